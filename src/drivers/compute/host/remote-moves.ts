/** The control plane's side of moves and of copies of snapshots. */
import { ComputeError } from '../../../ports/compute.ts';
import type { CopyProgress, PreparedCopy, SnapshotCopies } from '../../../ports/copies.ts';
import {
  type DiskMove,
  isDiskMove,
  type MachineMoves,
  type Move,
  type MoveEndpoint,
  type MoveProgress,
} from '../../../ports/moves.ts';
import type { HostConnection } from './connection.ts';
import type { CallMethod } from './methods.ts';
import { requireSharedDisks, requireVersion } from './versions.ts';
import { COPIES_VERSION, DISK_MOVES_VERSION, UNKNOWN_CALL } from './wire.ts';

export type Caller = (method: CallMethod, ...args: unknown[]) => Promise<unknown>;

/** An older host has nothing to do with moves, and repeating a call would not help. */
export function remoteMoves(call: Caller, connection: HostConnection): MachineMoves {
  const { name: host } = connection;
  const ask: Caller = async (method, ...args) =>
    await call(method, ...args).catch((error: unknown) => {
      if (!(error instanceof ComputeError) || error.message !== UNKNOWN_CALL) throw error;
      throw new ComputeError(
        'refused',
        `host ${host} cannot take part in this move: update Skerry on ${host}`,
      );
    });
  // An older host received no volume or snapshot, and sent none, so nothing is left of it there.
  const mayHave = async (move: Move | DiskMove) =>
    !isDiskMove(move) || (await connection.version()) >= DISK_MOVES_VERSION;
  return {
    receive: async (move, machine) => {
      await requireSharedDisks(connection, machine.spec);
      return (await ask('receive', move, machine)) as MoveEndpoint;
    },
    receiveDisk: async (...args) => (await ask('receiveDisk', ...args)) as MoveEndpoint,
    send: async (...args) => (await ask('send', ...args)) as MoveProgress,
    takeOver: async (...args) => void (await ask('takeOver', ...args)),
    keep: async (move) => void ((await mayHave(move)) && (await ask('keep', move))),
    forget: async (move, side) => void ((await mayHave(move)) && (await ask('forget', move, side))),
  };
}

/** An older host has no copies. */
export function remoteCopies(call: Caller, connection: HostConnection): SnapshotCopies {
  const ask: Caller = async (...args) => {
    await requireVersion(connection, COPIES_VERSION, 'copy snapshots');
    return await call(...args);
  };
  return {
    prepareCopy: async (...args) => (await ask('prepareCopy', ...args)) as PreparedCopy | null,
    sendCopy: async (...args) => (await ask('sendCopy', ...args)) as CopyProgress,
    forgetCopy: async (id) => {
      if ((await connection.version()) >= COPIES_VERSION) await call('forgetCopy', id);
    },
    fetchCopy: async (...args) => (await ask('fetchCopy', ...args)) as CopyProgress,
  };
}

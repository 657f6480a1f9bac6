/**
 * Simulated moves. Each side records what it did, like two hosts that do not know about each other: a move
 * that was kept by its source and taken over by its target would be a machine that runs twice.
 */
import type { Clock } from '../../../kernel/clock.ts';
import type { Database, Sql } from '../../../kernel/sql.ts';
import { ComputeError } from '../../../ports/compute.ts';
import {
  type DiskMove,
  isDiskMove,
  type MachineMoves,
  type Move,
  type MovedDisk,
  type MovedMachine,
  type MoveEndpoint,
  type MoveProgress,
} from '../../../ports/moves.ts';
import type { Faults } from '../../faults.ts';
import { forgetDisk, keepDisk, receiveDisk, sendDisk, takeOverDisk } from './disk-moves.ts';
import { diskOnHost, hasCapacity } from './install.ts';
import { hostUnreachable, isInstallDone, lockMachine, sha256 } from './machine.ts';
import { failed, isHostDown, progressAt } from './move-progress.ts';

interface MoveRow {
  readonly machine_id: string;
  readonly from_host: string;
  readonly to_host: string;
  readonly disk_gb: number;
  readonly volumes_gb: number;
  readonly key_sha256: string;
  readonly source: 'idle' | 'sending' | 'runs' | 'gone';
  readonly target: 'waiting' | 'runs' | 'gone';
  readonly started_at: Date | null;
  readonly ends_at: Date | null;
}

export class SimulatedMoves implements MachineMoves {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #faults: Faults;
  readonly #copyS: number;

  /** `copyS` is the duration of a copy in seconds of business time. */
  constructor(options: { db: Database; clock: Clock; faults: Faults; copyS: number }) {
    this.#db = options.db;
    this.#clock = options.clock;
    this.#faults = options.faults;
    this.#copyS = options.copyS;
  }

  /** An armed fault makes the target refuse for lack of room. */
  async receive(move: Move, { spec, volumes }: MovedMachine): Promise<MoveEndpoint> {
    if (await this.#faults.consume('compute', 'moves.receive'))
      throw new ComputeError('host', 'simulated fault');
    await this.#db.transaction(async (tx) => {
      const { to } = move;
      if (await isHostDown(tx, to)) throw new ComputeError('host', `host ${to} is down`);
      const existing = await lockMove(tx, move.id);
      if (existing?.target === 'waiting') return;
      if (existing) throw new ComputeError('refused', 'the move has ended');
      const volumesGb = volumes.reduce((sum, { sizeGb, shared }) => sum + (shared ? 0 : sizeGb), 0);
      if (!(await hasCapacity(tx, { ...spec, host: to })))
        throw new ComputeError('host', `insufficient capacity on host ${to}`);
      await tx.run(
        `insert into sim.moves (id, machine_id, from_host, to_host, cpu, ram_mb, disk_gb, volumes_gb,
                                key_sha256)
         values ($id, $machineId, $from, $to, $cpu, $ramMb, $diskGb, $volumesGb, $key)`,
        {
          ...move,
          cpu: spec.cpu,
          ramMb: spec.ramMb,
          diskGb: diskOnHost(spec),
          volumesGb,
          key: sha256(move.key),
        },
      );
    });
    return endpointOf(move);
  }

  /** An armed fault makes the target refuse for lack of room. */
  async receiveDisk(move: DiskMove, disk: MovedDisk): Promise<MoveEndpoint> {
    if (await this.#faults.consume('compute', 'moves.receiveDisk'))
      throw new ComputeError('host', 'simulated fault');
    await this.#db.transaction((tx) => receiveDisk(tx, move, disk));
    return endpointOf(move);
  }

  /** An armed fault makes the copy fail. */
  async send(move: Move | DiskMove, _to: MoveEndpoint): Promise<MoveProgress> {
    if (await this.#faults.consume('compute', 'moves.send')) return failed('simulated fault');
    if (isDiskMove(move)) {
      const timing = { now: this.#clock.now(), copyS: this.#copyS };
      return await this.#db.transaction((tx) => sendDisk(tx, move, timing));
    }
    return await this.#db.transaction(async (tx) => {
      const isTargetDown = await isHostDown(tx, move.to);
      const row = await lockMove(tx, move.id);
      const machine = await lockMachine(tx, move.machineId);
      if (machine.host !== move.from || row?.source === 'runs' || row?.source === 'gone')
        throw new ComputeError('refused', 'the move has ended');
      const now = this.#clock.now();
      if (row?.target !== 'waiting' || row.key_sha256 !== sha256(move.key))
        return failed('the target does not accept the machine');
      if (isTargetDown) return failed('the target does not answer');
      if (!isInstallDone(machine, now))
        throw new ComputeError('refused', 'the machine is still being installed');
      if (machine.iso_sha256 !== null)
        throw new ComputeError('refused', 'an ISO image is inserted, which stays on its host');
      const startedAt = row.started_at ?? now;
      const endsAt = row.ends_at ?? new Date(now.getTime() + this.#copyS * 1000);
      await tx.run(`update sim.moves set source = 'sending', started_at = $2, ends_at = $3 where id = $1`, [
        move.id,
        startedAt,
        endsAt,
      ]);
      return progressAt(row.disk_gb + row.volumes_gb, { now, startedAt, endsAt });
    });
  }

  async takeOver(move: Move | DiskMove): Promise<void> {
    await this.#throwArmedFault('takeOver');
    await this.#db.transaction(async (tx) => {
      if (isDiskMove(move)) return await takeOverDisk(tx, move, this.#clock.now());
      if (await isHostDown(tx, move.to)) throw hostUnreachable(move.to);
      const row = await lockMove(tx, move.id);
      if (row?.target === 'runs') return;
      if (!row || !isSent(row, this.#clock.now()) || row.target === 'gone')
        throw new ComputeError('refused', 'the target does not have the machine');
      // Its attachments refer to the machine, so they move with it.
      const moved = await tx.run(
        `update sim.machines set host = $3, blackholed = '{}' where id = $1 and host = $2`,
        [move.machineId, move.from, move.to],
      );
      if (moved === 0) throw new ComputeError('refused', 'machine not found');
      await tx.run(
        `update sim.volumes set host = $2
          where id in (select volume_id from sim.attachments where machine_id = $1)`,
        [move.machineId, move.to],
      );
      await tx.run(`update sim.moves set target = 'runs' where id = $1`, [move.id]);
    });
  }

  async keep(move: Move | DiskMove): Promise<void> {
    await this.#throwArmedFault('keep');
    await this.#db.transaction(async (tx) => {
      if (isDiskMove(move)) return await keepDisk(tx, move);
      if (await isHostDown(tx, move.from)) throw hostUnreachable(move.from);
      const row = await lockMove(tx, move.id);
      if (row?.target === 'runs') throw new ComputeError('refused', 'the target has the machine');
      await tx.run(`update sim.moves set source = 'runs' where id = $1`, [move.id]);
    });
  }

  async forget(move: Move | DiskMove, host: 'from' | 'to'): Promise<void> {
    await this.#throwArmedFault('forget');
    await this.#db.transaction(async (tx) => {
      if (isDiskMove(move)) return await forgetDisk(tx, move, { host, now: this.#clock.now() });
      if (await isHostDown(tx, move[host])) throw hostUnreachable(move[host]);
      const row = await lockMove(tx, move.id);
      if (row === undefined) return;
      const isTaken = row.target === 'runs';
      const hasMachine = host === 'to' ? isTaken : !isTaken && !isSent(row, this.#clock.now());
      if (hasMachine) throw new ComputeError('refused', 'this host has the machine');
      // The target was lost before it took over. The source cannot know.
      if (host === 'from' && !isTaken) {
        await tx.run('delete from sim.machines where id = $1 and not shared_disk', [move.machineId]);
        await tx.run('update sim.machines set off_at = $2 where id = $1', [
          move.machineId,
          this.#clock.now(),
        ]);
      }
      await tx.run(`update sim.moves set ${host === 'to' ? 'target' : 'source'} = 'gone' where id = $1`, [
        move.id,
      ]);
    });
  }

  async #throwArmedFault(verb: keyof MachineMoves): Promise<void> {
    if (await this.#faults.consume('compute', `moves.${verb}`))
      throw new ComputeError('transient', 'simulated fault');
  }
}

function endpointOf({ to }: Pick<Move, 'to'>): MoveEndpoint {
  return { address: `${to}.simulated:7000` };
}

/** Whether the target may take over. */
function isSent({ source, ends_at: endsAt }: MoveRow, now: Date): boolean {
  return source === 'sending' && endsAt !== null && endsAt <= now;
}

async function lockMove(tx: Sql, id: string): Promise<MoveRow | undefined> {
  return await tx.row<MoveRow>(
    `select machine_id, from_host, to_host, disk_gb, volumes_gb, key_sha256, source, target,
            started_at, ends_at
       from sim.moves where id = $1 for update`,
    [id],
  );
}

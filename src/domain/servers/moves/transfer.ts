/** A move as the driver needs it: the transfer with its key, and the machine as the target will have it. */
import type { DiskMove, MachineMoves, Move, MovedMachine } from '../../../ports/moves.ts';
import { findMove, type MoveRow } from '../../../store/servers/moves.ts';
import { findBuildDetails } from '../../../store/servers/placements.ts';
import { findAttachments } from '../../../store/volumes/changes.ts';
import type { Service } from '../../context.ts';
import { buildMachineSpec } from '../operations/step-inputs.ts';

export function requireMoves({ compute }: Pick<Service, 'compute'>): MachineMoves {
  if (compute.moves === null) throw new Error('the driver cannot move machines');
  return compute.moves;
}

/** Returns the move that is under way, or that left a copy behind. */
export async function requireStartedMove(service: Pick<Service, 'db'>, serverId: string): Promise<MoveRow> {
  const move = await findMove(service.db, serverId);
  if (!move || move.state === 'queued') throw new Error('a move without its row');
  return move;
}

export function transferOf(service: Pick<Service, 'keys'>, move: MoveRow): Move {
  return { ...keyedTransfer(service, move), machineId: move.server_id };
}

export function diskMoveOf(service: Pick<Service, 'keys'>, move: MoveRow): DiskMove {
  const { kind, server_id: id } = move;
  if (kind === 'server') throw new Error('a server is no disk');
  return { ...keyedTransfer(service, move), disk: { kind, id } };
}

/** The key of each move is derived from the service's key, so none is stored. */
function keyedTransfer({ keys }: Pick<Service, 'keys'>, move: MoveRow): Omit<Move, 'machineId'> {
  const { id, key_id: keyId, from_name: from, to_name: to } = move;
  if (keyId === null || to === null) throw new Error('a move without a target');
  return { id, from, to, key: keys.hmac('move', id, keyId) };
}

export async function movedMachine(service: Service, move: MoveRow): Promise<MovedMachine> {
  const facts = await findBuildDetails(service.db, move.server_id);
  if (!facts || move.to_name === null) throw new Error('a move without its server');
  const machine = { id: move.server_id, host: move.to_name, generation: facts.generation };
  const volumes = await findAttachments(service.db, move.volume_ids);
  return { spec: buildMachineSpec(service, machine, facts), volumes };
}

/** Moves in words, for the operator: in `hosts moves`, and in `status`. */
import { formatId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { listMoves, type MoveRow } from '../../../store/servers/moves.ts';

/** Failed attempts after which `status` warns. */
const FAILURES_WARNING = 3;
const MOVES_MAX = 10_000;
const SHOWN = 10;

/** Such as `copying to par-2, 40 %`. */
export function describeMove(
  move: Pick<MoveRow, 'kind' | 'state' | 'from_name' | 'to_name' | 'last_fault'> & Bytes,
): string {
  const { from_name: from, to_name: to } = move;
  switch (move.state) {
    case 'queued':
      return move.last_fault === null ? 'queued' : `queued: ${move.last_fault}`;
    case 'copying':
      return `copying to ${to}, ${percentCopied(move)} %`;
    case 'switched':
      return move.kind === 'server' ? `starting on ${to}` : `arriving on ${to}`;
    case 'moved':
      return `moved to ${to}; its copy on ${from} is being deleted`;
    case 'kept':
      return `stays on ${from} for now; its copy on ${to} is being deleted`;
  }
}

type Bytes = Pick<MoveRow, 'copied_bytes' | 'total_bytes'>;

function percentCopied({ copied_bytes: copied, total_bytes: total }: Bytes): number {
  return total === 0n ? 0 : Number((copied * 100n) / total);
}

export interface MovesInBrief {
  readonly underWay: number;
  readonly queued: number;
  /** Servers, volumes, and snapshots that do not get anywhere, in words. */
  readonly failing: readonly string[];
}

/** Null if nothing moves. */
export async function readMovesInBrief(db: Sql): Promise<MovesInBrief | null> {
  const moves = await listMoves(db, { host: null, limit: MOVES_MAX });
  if (moves.length === 0) return null;
  const queued = moves.filter(({ state }) => state === 'queued').length;
  const failing = moves.filter(({ attempts }) => attempts >= FAILURES_WARNING).slice(0, SHOWN);
  return {
    underWay: moves.length - queued,
    queued,
    failing: failing.map((move) => {
      const reason = move.last_fault === null ? '' : `: ${move.last_fault}`;
      const shownId = formatId(move.kind, move.server_id);
      return `${shownId} failed to leave ${move.from_name} ${move.attempts} times${reason}`;
    }),
  };
}

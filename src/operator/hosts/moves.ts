/** `hosts moves`, and what `hosts drain --move` prints while it waits. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Service } from '../../domain/context.ts';
import { describeMove } from '../../domain/servers/moves/describe.ts';
import { moveEverythingOff } from '../../domain/servers/moves/queue.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import { formatId } from '../../kernel/ids.ts';
import { countContents } from '../../store/inventory/placement.ts';
import { listMoves, type MoveRow } from '../../store/servers/moves.ts';
import type { OperatorContext, Terminal } from '../context.ts';
import { formatContents } from '../format/table.ts';

const POLL_MS = 1_000;
const MOVES_MAX = 10_000;

export function addHostMoves(hosts: Command, { resources, terminal }: OperatorContext): void {
  hosts
    .command('moves')
    .argument('[name]', 'Only to or from this host')
    .description('List what moves to another host: servers, detached volumes, and snapshots')
    .action(async (name?: string) => {
      const { service } = await resources.service();
      const moves = await listMoves(service.db, { host: name ?? null, limit: MOVES_MAX });
      const heading = ['what', 'from', 'to', 'state', 'failed', 'last fault'];
      terminal.table(heading, moves.map(moveColumns));
    });
}

/** Moves everything off a host, and waits. Interrupted, the moves continue. */
export async function moveEverythingAway(
  service: Service,
  { out }: Terminal,
  name: string,
  options: { readonly atOnce: number; readonly wait: boolean },
): Promise<void> {
  await recordCommandOn(service, 'hosts.move_all', { kind: 'host', name }, () =>
    moveEverythingOff(service, name, options.atOnce),
  );
  let shown = await readMoves(service, name);
  const count = formatContents(await countContents(service.db, name)) || 'nothing';
  out(`host ${name} is drained; ${count} to move, ${options.atOnce} at a time`);
  while (options.wait && shown.size > 0) {
    await pause(POLL_MS);
    const moves = await readMoves(service, name);
    for (const [id, text] of moves) if (shown.get(id) !== text) out(`${id}: ${text}`);
    for (const id of shown.keys()) if (!moves.has(id)) out(`${id}: left the queue`);
    shown = moves;
  }
  await printStaying(service, out, name);
}

async function readMoves({ db }: Service, name: string): Promise<Map<string, string>> {
  const moves = await listMoves(db, { host: name, limit: MOVES_MAX });
  return new Map(
    moves
      .filter((move) => move.from_name === name)
      .map((move) => [formatId(move.kind, move.server_id), describeMove(move)]),
  );
}

/** Says what has to leave before the host is empty. */
async function printStaying({ db }: Service, out: Terminal['out'], name: string): Promise<void> {
  const left = formatContents(await countContents(db, name));
  if (left === '') out(`host ${name} is empty`);
  else out(`${left} left on ${name}: see skerryd hosts moves ${name}, or run the command again`);
}

function moveColumns(move: MoveRow): string[] {
  return [
    formatId(move.kind, move.server_id),
    move.from_name,
    move.to_name ?? '',
    describeMove(move),
    move.attempts === 0 ? '' : String(move.attempts),
    move.last_fault ?? '',
  ];
}

/** `work list`, `show`, `retry`, `give-up`: stuck work of all queues. */
import { type Command, Option } from 'commander';
import { recordCommand } from '../../domain/staff/perform.ts';
import { giveUpWork, retryWork } from '../../domain/staff/work/control.ts';
import { listWorkObjects, readWork, type WorkQuery } from '../../domain/staff/work/read.ts';
import { WORK_QUEUE_NAMES, WORK_STATES } from '../../spec/staff/work.ts';
import type { OperatorContext } from '../context.ts';
import { formatFacts, formatMoreHint } from '../format/table.ts';
import { parsePositiveInt } from '../options.ts';

const LIMIT = 100;
const ID = ['<id>', 'From the list, such as task:volume:vol_…'] as const;

export function addWork(program: Command, context: OperatorContext): void {
  const work = program.command('work').description('Show and control work that is stuck');
  addViews(work, context);
  addControls(work, context);
}

function addViews(work: Command, { resources, terminal }: OperatorContext): void {
  work
    .command('list')
    .addOption(new Option('--queue <word>', 'Only this queue').choices(WORK_QUEUE_NAMES))
    .addOption(new Option('--state <word>', 'Only in this state').choices(WORK_STATES))
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('List work that fails, is late, or was given up')
    .action(async (query: WorkQuery) => {
      const { service } = await resources.service();
      const { work: rows, hasMore } = await listWorkObjects(service, query);
      const heading = ['id', 'state', 'failed', 'since', 'next try', 'last fault'];
      terminal.table(
        heading,
        rows.map((row) => [
          ...[row.id, row.state ?? '', row.attempts === 0 ? '' : String(row.attempts)],
          ...[row.since ?? '', row.next_try_at ?? '', row.last_fault ?? ''],
        ]),
      );
      if (hasMore) terminal.err(formatMoreHint(rows.length, 'piece of work', 'pieces of work'));
    });
  work
    .command('show')
    .argument(...ID)
    .description('Show a piece of work')
    .action(async (id: string) => {
      const { service } = await resources.service();
      const row = await readWork(service, id);
      const facts = formatFacts([
        ['work', row.id],
        ['kind', row.kind],
        ['state', row.state ?? (row.running ? 'running' : 'waiting')],
        ['attempts failed', String(row.attempts)],
        ['since', row.since],
        ['next try', row.running ? 'now' : row.next_try_at],
        ['last fault', row.last_fault],
      ]);
      for (const line of facts) terminal.out(line);
    });
}

function addControls(work: Command, { resources, terminal }: OperatorContext): void {
  work
    .command('retry')
    .argument(...ID)
    .description('Try a piece of work again now')
    .action(async (id: string) => {
      const { service } = await resources.service();
      const act = { operation: 'work.retry', target: id, reason: null } as const;
      await recordCommand(service, act, () => retryWork(service, id));
      terminal.out(`${id}: it is tried again`);
    });
  work
    .command('give-up')
    .argument(...ID)
    .description('Stop trying a piece of work')
    .action(async (id: string) => {
      const { service } = await resources.service();
      const act = { operation: 'work.give_up', target: id, reason: null } as const;
      await recordCommand(service, act, () => giveUpWork(service, id));
      terminal.out(`${id}: it is given up`);
    });
}

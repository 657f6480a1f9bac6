/** `operations list`, `show`, `retry`, `give-up`: the work that is under way on servers. */
import { type Command, Option } from 'commander';
import { OPERATION_KINDS } from '../../domain/actions/operations.ts';
import {
  giveUpOperation,
  retryOperation,
  type UnderWayQuery,
} from '../../domain/servers/operator/operations.ts';
import { listOperationObjects, readOperation } from '../../domain/staff/operations.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import type { OperatorContext } from '../context.ts';
import { formatFacts, formatMoreHint } from '../format/table.ts';
import { parsePositiveInt } from '../options.ts';

const LIMIT = 100;
const ID = ['<id>', 'Server, srv_…'] as const;

export function addOperations(program: Command, context: OperatorContext): void {
  const operations = program
    .command('operations')
    .description('Show and control the work that is under way on servers');
  addViews(operations, context);
  addControls(operations, context);
}

function addViews(operations: Command, { resources, terminal }: OperatorContext): void {
  operations
    .command('list')
    .addOption(
      new Option('--state <word>', 'Failing now, or running for over 30 minutes').choices([
        'failing',
        'stuck',
      ]),
    )
    .addOption(new Option('--kind <word>', 'Only this kind').choices(OPERATION_KINDS))
    .option('--host <name>', 'Only on this host or machine')
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('List the work that is under way on servers')
    .action(async (query: UnderWayQuery) => {
      const { service } = await resources.service();
      const { operations: rows, hasMore } = await listOperationObjects(service, query);
      const heading = ['server', 'work', 'step', 'host', 'failed', 'began', 'next try', 'last fault'];
      terminal.table(
        heading,
        rows.map((row) => [
          ...[row.id, row.kind, row.step, row.host ?? '', row.attempts === 0 ? '' : String(row.attempts)],
          ...[row.started_at, row.next_try_at, row.last_fault ?? ''],
        ]),
      );
      if (hasMore) terminal.err(formatMoreHint(rows.length, 'operation'));
    });
  operations
    .command('show')
    .argument(...ID)
    .description('Show the work on a server, step by step')
    .action(async (id: string) => {
      const { service } = await resources.service();
      const row = await readOperation(service, id);
      const facts = formatFacts([
        ['server', row.id],
        ['customer', row.customer],
        ['work', `${row.kind}, at step ${row.step}${row.stuck ? ', stuck' : ''}`],
        ['host', row.host],
        ['began', row.started_at],
        ['attempts failed', String(row.attempts)],
        ['next try', row.running ? 'now' : row.next_try_at],
        ['last fault', row.last_fault],
        ...row.steps.map((step) => [step.name, `${step.status} ${step.started_at ?? ''}`.trim()] as const),
      ]);
      for (const line of facts) terminal.out(line);
    });
}

function addControls(operations: Command, { resources, terminal }: OperatorContext): void {
  operations
    .command('retry')
    .argument(...ID)
    .description('Try the current step of a server again now')
    .action(async (id: string) => {
      const { service } = await resources.service();
      const target = { kind: 'server', name: id } as const;
      await recordCommandOn(service, 'operations.retry', target, () => retryOperation(service, id));
      terminal.out(`${id}: the step is tried again`);
    });
  operations
    .command('give-up')
    .argument(...ID)
    .description('End the work on a server as failed; a new server is refunded and deleted')
    .action(async (id: string) => {
      const { service } = await resources.service();
      const target = { kind: 'server', name: id } as const;
      await recordCommandOn(service, 'operations.give_up', target, () => giveUpOperation(service, id));
      terminal.out(`${id}: the work ends as failed`);
    });
}

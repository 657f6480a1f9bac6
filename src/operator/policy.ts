/** `policy block`, `policy list`, `policy unblock`: orders that close an operation. */
import type { Command } from 'commander';
import { blockByPolicy, listPolicies, unblockByPolicy } from '../domain/rules/policies.ts';
import { showId } from '../kernel/ids.ts';
import { Refusal } from '../kernel/refusal.ts';
import { sessionTime } from '../kernel/time.ts';
import type { Operation } from '../spec/operations.ts';
import type { OperatorContext } from './context.ts';
import { readOperation } from './operation.ts';
import { table } from './table.ts';

/** It would block nobody, and look as if it did. */
const NO_COUNTRIES =
  'a policy cannot be about a country yet: this version does not know where a caller is from. Leave --country out ' +
  'to refuse the operation to everybody';

interface BlockOptions {
  readonly operation: Operation;
  readonly country?: string;
  readonly region?: string;
  readonly order: string;
}

export function addPolicy(program: Command, { doors, terminal }: OperatorContext): void {
  const policy = program.command('policy').description('refuse an operation by legal order');
  policy
    .command('block')
    .requiredOption('--operation <name>', 'such as volumes.create', readOperation)
    .option('--country <code>', 'not yet: where a caller is from is not known')
    .option('--region <code>', 'only what is for this region; with servers.create and volumes.create')
    .requiredOption('--order <text>', 'which order it follows; the refused customer reads it')
    .description('answer 451 from now on')
    .action(async ({ operation, country, region, order }: BlockOptions) => {
      if (country !== undefined) throw new Refusal(NO_COUNTRIES);
      const { service } = await doors.service();
      const id = await blockByPolicy(service, { operation, country: null, region: region ?? null, order });
      terminal.out(
        `${id}: ${operation} is refused ${region === undefined ? 'to everybody' : `for ${region}`}`,
      );
    });
  policy
    .command('list')
    .description('print the policies in force')
    .action(async () => {
      const { service } = await doors.service();
      const rows = (await listPolicies(service)).map((row) => [
        showId('policy', row.id),
        row.operation,
        row.country ?? 'any',
        row.region_id ?? 'any',
        sessionTime(row.created_at),
        row.order_text,
      ]);
      const heading = ['policy', 'operation', 'country', 'region', 'since (UTC)', 'order'];
      for (const line of table([heading, ...rows])) terminal.out(line);
    });
  policy
    .command('unblock')
    .argument('<id>', 'as policy list shows it: pol_…')
    .description('take a policy away')
    .action(async (id: string) => {
      const { service } = await doors.service();
      await unblockByPolicy(service, id);
      terminal.out(`${id} is gone`);
    });
}

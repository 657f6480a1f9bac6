/** `policy block`, `policy list`, `policy unblock`: legal orders that close an operation. */
import type { Command } from 'commander';
import { blockByPolicy, listPolicies, unblockByPolicy } from '../domain/rules/policies.ts';
import { recordCommand } from '../domain/staff/perform.ts';
import { recordCommandOn } from '../domain/staff/target.ts';
import { formatId } from '../kernel/ids.ts';
import { formatSessionTime } from '../kernel/time.ts';
import type { Operation } from '../spec/operations.ts';
import type { OperatorContext } from './context.ts';
import { addList } from './format/table.ts';
import { parseOperation } from './options.ts';

interface BlockOptions {
  readonly operation: Operation;
  readonly country?: string;
  readonly region?: string;
  readonly order: string;
}

export function addPolicy(program: Command, context: OperatorContext): void {
  const { resources, terminal } = context;
  const policy = program.command('policy').description('Block operations by legal order');
  policy
    .command('block')
    .requiredOption('--operation <name>', 'Operation, such as volumes.create', parseOperation)
    .option('--country <code>', 'Only clients from this country: ISO 3166-1, such as DE; XX for unknown')
    .option('--region <code>', 'Only for this region; with servers.create and volumes.create')
    .requiredOption('--order <text>', 'The legal order; shown to customers who are refused')
    .description('Refuse an operation with 451 from now on')
    .action(async ({ operation, country, region, order }: BlockOptions) => {
      const { service } = await resources.service();
      const request = {
        operation,
        country: country?.toUpperCase() ?? null,
        region: region ?? null,
        order,
      };
      const act = { operation: 'policies.block', target: null } as const;
      const id = await recordCommand(service, act, () => blockByPolicy(service, request));
      const scope = [
        ...(request.country === null ? [] : [`to clients from ${request.country}`]),
        ...(request.region === null ? [] : [`for ${request.region}`]),
      ];
      terminal.out(`${id}: ${operation} is refused ${scope.join(' ') || 'to everyone'}`);
    });
  addList(policy, context, {
    about: 'List the policies in force',
    heading: ['policy', 'operation', 'country', 'region', 'since (UTC)', 'order'],
    read: async (service) =>
      (await listPolicies(service)).map((row) => [
        formatId('policy', row.id),
        row.operation,
        row.country ?? 'any',
        row.region_id ?? 'any',
        formatSessionTime(row.created_at),
        row.order_text,
      ]),
  });
  policy
    .command('unblock')
    .argument('<id>', 'Policy id from policy list: pol_…')
    .description('Delete a policy')
    .action(async (id: string) => {
      const { service } = await resources.service();
      await recordCommandOn(service, 'policies.unblock', { kind: 'policy', name: id }, () =>
        unblockByPolicy(service, id),
      );
      terminal.out(`${id} is deleted`);
    });
}

/** `approvals`: acts that wait for a second person, and the operations that need one. */
import type { Command } from 'commander';
import {
  listApprovalRules,
  readApprovalRule,
  removeApprovalRule,
  setApprovalRule,
} from '../../domain/staff/approval-rules.ts';
import { approve, listApprovals, readApproval, refuseApproval } from '../../domain/staff/approvals.ts';
import { recordCommand } from '../../domain/staff/perform.ts';
import type { OperatorContext } from '../context.ts';
import { addList, formatMoreHint } from '../format/table.ts';
import { parsePositiveInt } from '../options.ts';

const LIMIT = 100;

export function addApprovals(program: Command, context: OperatorContext): void {
  const approvals = program.command('approvals').description('Manage acts that need a second person');
  addRequests(approvals, context);
  addDecisions(approvals, context);
  addRules(approvals, context);
}

function addRequests(approvals: Command, { resources, terminal }: OperatorContext): void {
  approvals
    .command('list')
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('List acts that wait for a second person, newest first')
    .action(async ({ limit }: { limit: number }) => {
      const { service } = await resources.service();
      const { approvals: rows, hasMore } = await listApprovals(service, { limit });
      const cells = rows.map((row) => [
        row.id,
        row.operation,
        row.target ?? '',
        row.requested_by,
        row.state,
        row.reason ?? '',
      ]);
      terminal.table(['id', 'operation', 'target', 'requested by', 'state', 'reason'], cells);
      terminal.document(rows);
      if (hasMore) terminal.err(formatMoreHint(rows.length, 'approval'));
    });
  approvals
    .command('show')
    .argument('<id>', 'Id, apr_…')
    .description('Show an act that waits for a second person')
    .action(async (id: string) => {
      const { service } = await resources.service();
      const approval = await readApproval(service, id);
      const { object: _, details, ...facts } = approval;
      const rows = Object.entries({ ...facts, input: details && JSON.stringify(details) });
      terminal.facts(rows);
      terminal.document(approval);
    });
}

function addDecisions(approvals: Command, { resources, terminal }: OperatorContext): void {
  approvals
    .command('approve')
    .argument('<id>', 'Id, apr_…')
    .description('Approve an act, and carry it out in the name of the person who asked')
    .action(async (id: string) => {
      const { service, carryOut } = await resources.service();
      const act = { operation: 'approvals.approve', target: id } as const;
      const { operation } = await recordCommand(service, act, () => approve(service, id, null, carryOut));
      terminal.out(`${operation} is approved and carried out`);
    });
  approvals
    .command('refuse')
    .argument('<id>', 'Id, apr_…')
    .description('Refuse an act')
    .action(async (id: string) => {
      const { service } = await resources.service();
      const act = { operation: 'approvals.refuse', target: id } as const;
      const { operation } = await recordCommand(service, act, () => refuseApproval(service, id, null));
      terminal.out(`${operation} is refused`);
    });
}

function addRules(approvals: Command, context: OperatorContext): void {
  const { resources, terminal } = context;
  addList(approvals, context, {
    name: 'rules',
    about: 'List the operations that need a second person',
    heading: ['operation', 'above', 'does'],
    read: async (service) =>
      (await listApprovalRules(service)).map((row) => [row.id, formatOver(row.over_usd), row.summary]),
  });
  approvals
    .command('rule')
    .argument('<operation>')
    .description('Show whether an operation needs a second person')
    .action(async (operation: string) => {
      const { service } = await resources.service();
      const { id, over_usd: over, created_at: since } = await readApprovalRule(service, operation);
      terminal.out(`${id} needs a second person (${formatOver(over)}) since ${since}`);
    });
  approvals
    .command('set-rule')
    .argument('<operation>', 'Such as customers.credit: see `skerryd staff log` for their names')
    .option('--over <usd>', 'Only acts above this amount in US dollars')
    .description('Require a second person for an operation')
    .action(async (operation: string, { over }: { over?: string }) => {
      const { service } = await resources.service();
      const rule = { operation, ...(over !== undefined && { over_usd: over }) };
      const act = { operation: 'approval_rules.set', target: operation } as const;
      const saved = await recordCommand(service, act, () => setApprovalRule(service, rule));
      terminal.out(`${saved.id} needs a second person (${formatOver(saved.over_usd)})`);
    });
  approvals
    .command('remove-rule')
    .argument('<operation>')
    .description('Remove the rule of an operation')
    .action(async (operation: string) => {
      const { service } = await resources.service();
      const act = { operation: 'approval_rules.remove', target: operation } as const;
      await recordCommand(service, act, () => removeApprovalRule(service, operation));
      terminal.out(`${operation} needs no second person`);
    });
}

function formatOver(usd: number | null): string {
  return usd === null ? 'always' : `above $${usd.toFixed(2)}`;
}

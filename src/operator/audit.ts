/** `audit`: the audit log across all customers. */
import type { Command } from 'commander';
import { listAuditForOperator } from '../domain/audit/operator.ts';
import { toAuditObject } from '../domain/staff/objects.ts';
import { formatId } from '../kernel/ids.ts';
import { formatSessionTime } from '../kernel/time.ts';
import { ACTIONS, type Action } from '../spec/actions.ts';
import { LIMITS } from '../spec/limits.ts';
import type { OperatorAuditRow } from '../store/audit.ts';
import type { OperatorContext } from './context.ts';
import { formatMoreHint } from './format/table.ts';
import { parsePositiveInt, parseWord } from './options.ts';

const LIMIT = 100;

interface AuditOptions {
  readonly customer?: string;
  readonly action?: Action;
  readonly resource?: string;
  readonly unasked?: true;
  readonly limit: number;
}

export function addAudit(program: Command, { resources, terminal }: OperatorContext): void {
  program
    .command('audit')
    .option('--customer <email>', 'Only entries of this customer')
    .option('--action <name>', 'Only this action, such as server.freeze', parseAction)
    .option('--resource <id>', 'Only this resource: srv_…, top_…, or the name of a switch')
    .option('--unasked', 'Only actions by the operator and the service')
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description(`List actions of the last ${LIMITS.auditRetentionDays} days, newest first`)
    .action(async ({ unasked, ...query }: AuditOptions) => {
      const { service } = await resources.service();
      const attribution = unasked && { unattributed: true as const };
      const { rows, hasMore } = await listAuditForOperator(service, { ...query, ...attribution });
      const heading = ['time (UTC)', 'action', 'resource', 'result', 'customer', 'actor'];
      heading.push('country', 'request', 'note');
      terminal.table(heading, rows.map(columns));
      terminal.document(rows.map(toAuditObject));
      if (hasMore) terminal.err(formatMoreHint(rows.length, 'entry', 'entries'));
    });
}

function parseAction(text: string): Action {
  return parseWord(text, ACTIONS, 'an action, such as server.freeze');
}

function columns(row: OperatorAuditRow): string[] {
  return [
    formatSessionTime(row.created_at),
    row.action,
    row.resource ?? '',
    row.result,
    row.email ?? '',
    formatActor(row),
    row.ip_country,
    row.request_id,
    row.note ?? '',
  ];
}

function formatActor({ actor_token: token, actor_session: session }: OperatorAuditRow): string {
  if (token !== null) return formatId('token', token);
  return session === null ? '' : formatId('session', session);
}

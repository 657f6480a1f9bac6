/** `audit`: what was done, by whom, to what. */
import { type Command, InvalidArgumentError } from 'commander';
import { requireCustomer } from '../domain/customers/by-email.ts';
import { closestMatch } from '../kernel/closest-match.ts';
import { formatId } from '../kernel/ids.ts';
import { formatSessionTime } from '../kernel/time.ts';
import { ACTIONS, type Action } from '../spec/actions.ts';
import { LIMITS } from '../spec/limits.ts';
import { listOperatorAudit, type OperatorAuditRow } from '../store/operator-audit.ts';
import type { OperatorContext } from './context.ts';
import { parsePositiveInt } from './options.ts';
import { formatMoreHint, formatTable } from './table.ts';

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
    .option('--customer <email>', 'only this customer’s')
    .option('--action <name>', 'such as server.freeze', parseAction)
    .option('--resource <id>', 'only about this one: srv_…, top_…, a switch')
    .option('--unasked', 'only what no customer did: the operator, and the service itself')
    .option('--limit <count>', `how many, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description(`print what was done in the last ${LIMITS.auditRetentionDays} days, newest first`)
    .action(async ({ customer, limit, unasked, ...filter }: AuditOptions) => {
      const { service } = await resources.service();
      const { db } = service;
      const owner = customer === undefined ? {} : { customerId: (await requireCustomer(db, customer)).id };
      const rows = await listOperatorAudit(
        db,
        { ...filter, ...owner, ...(unasked && { unattributed: true }) },
        limit + 1,
      );
      const heading = ['when (UTC)', 'action', 'resource', 'result', 'customer', 'by', 'from', 'request', ''];
      for (const line of formatTable([heading, ...rows.slice(0, limit).map(columns)])) terminal.out(line);
      if (rows.length > limit) terminal.err(formatMoreHint(limit, 'entry', 'entries'));
    });
}

function parseAction(text: string): Action {
  const action = ACTIONS.find((each) => each === text);
  if (action !== undefined) return action;
  const suggestion = closestMatch(text, ACTIONS);
  throw new InvalidArgumentError(
    suggestion ? `Did you mean ${suggestion}?` : 'It is an action, such as server.freeze.',
  );
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

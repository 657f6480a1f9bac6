/** `audit`: what was done, by whom, to what. */
import { type Command, InvalidArgumentError } from 'commander';
import { requireCustomer } from '../domain/customers/by-email.ts';
import { showId } from '../kernel/ids.ts';
import { nearest } from '../kernel/nearest.ts';
import { sessionTime } from '../kernel/time.ts';
import { ACTIONS, type Action } from '../spec/actions.ts';
import { LIMITS } from '../spec/limits.ts';
import { type DeskAuditRow, listDeskAudit } from '../store/desk-audit.ts';
import type { OperatorContext } from './context.ts';
import { wholeAboveZero } from './options.ts';
import { table, tellMore } from './table.ts';

const LIMIT = 100;

interface AuditOptions {
  readonly customer?: string;
  readonly action?: Action;
  readonly resource?: string;
  readonly unasked?: true;
  readonly limit: number;
}

export function addAudit(program: Command, { doors, terminal }: OperatorContext): void {
  program
    .command('audit')
    .option('--customer <email>', 'only this customer’s')
    .option('--action <name>', 'such as server.freeze', readAction)
    .option('--resource <id>', 'only about this one: srv_…, top_…, a switch')
    .option('--unasked', 'only what no customer did: the operator, and the service itself')
    .option('--limit <count>', `how many, default ${LIMIT}`, wholeAboveZero, LIMIT)
    .description(`print what was done in the last ${LIMITS.auditDays} days, newest first`)
    .action(async ({ customer, limit, ...filter }: AuditOptions) => {
      const { service } = await doors.service();
      const { db } = service;
      const owner = customer === undefined ? {} : { customerId: (await requireCustomer(db, customer)).id };
      const rows = await listDeskAudit(db, { ...filter, ...owner }, limit + 1);
      const heading = ['when (UTC)', 'action', 'resource', 'result', 'customer', 'by', 'from', 'request', ''];
      for (const line of table([heading, ...rows.slice(0, limit).map(columns)])) terminal.out(line);
      if (rows.length > limit) terminal.err(tellMore(limit, 'entry', 'entries'));
    });
}

function readAction(text: string): Action {
  const action = ACTIONS.find((each) => each === text);
  if (action !== undefined) return action;
  const meant = nearest(text, ACTIONS);
  throw new InvalidArgumentError(
    meant ? `Did you mean ${meant}?` : 'It is an action, such as server.freeze.',
  );
}

function columns(row: DeskAuditRow): string[] {
  return [
    sessionTime(row.created_at),
    row.action,
    row.resource ?? '',
    row.result,
    row.email ?? '',
    actor(row),
    row.ip_country,
    row.request_id,
    row.note ?? '',
  ];
}

function actor({ actor_token: token, actor_session: session }: DeskAuditRow): string {
  if (token !== null) return showId('token', token);
  return session === null ? '' : showId('session', session);
}

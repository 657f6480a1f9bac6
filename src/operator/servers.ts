/** `servers list`, `servers show`: whose servers there are, where, and what is done to them. */
import { type Command, Option } from 'commander';
import { type DeskQuery, findServerForOperator, listServersForOperator } from '../domain/servers/desk.ts';
import { showId } from '../kernel/ids.ts';
import { centsText } from '../kernel/money.ts';
import { sessionTime } from '../kernel/time.ts';
import { SERVER_STATUSES } from '../spec/states.ts';
import type { DeskServerRow } from '../store/desk-servers.ts';
import type { OperatorContext } from './context.ts';
import { wholeAboveZero } from './options.ts';
import { counted, facts, table } from './table.ts';

const LIMIT = 100;

export function addServers(program: Command, { doors, terminal }: OperatorContext): void {
  const servers = program.command('servers').description('customers’ servers');
  servers
    .command('list')
    .option('--customer <email>', 'only this customer’s')
    .addOption(new Option('--status <word>', 'only in this status').choices(SERVER_STATUSES))
    .option('--region <code>', 'only in this region, such as par')
    .option('--host <name>', 'only on this host or machine')
    .option('--frozen', 'only those that were frozen')
    .option('--held', 'only those under a legal hold')
    .option('--limit <count>', `how many, default ${LIMIT}`, wholeAboveZero, LIMIT)
    .description('print servers, newest first')
    .action(async (query: DeskQuery) => {
      const { service } = await doors.service();
      const { servers: found, more } = await listServersForOperator(service, query);
      const heading = [
        'server',
        'customer',
        'name',
        'status',
        'plan',
        'region',
        'host',
        'IPv4',
        'paid until',
        '',
      ];
      for (const line of table([heading, ...found.map(columns)])) terminal.out(line);
      if (more)
        terminal.err(`there are more than ${counted(found.length, 'server')}: --limit shows more of them`);
    });
  servers
    .command('show')
    .argument('<id or address>', 'srv_…, or an IPv4 or IPv6 address that the server has now')
    .description('print all about one server')
    .action(async (idOrAddress: string) => {
      const { service } = await doors.service();
      for (const line of facts(factsOf(await findServerForOperator(service, idOrAddress))))
        terminal.out(line);
    });
}

function columns(row: DeskServerRow): string[] {
  const notes = [
    row.frozen_at !== null && 'frozen',
    row.hold_order !== null && 'held',
    row.operation !== null && `${row.operation} under way`,
  ].filter((note) => note !== false);
  return [
    showId('server', row.id),
    row.email,
    row.name,
    statusText(row),
    row.plan_id,
    row.region_id,
    row.host ?? '',
    row.ipv4 ?? '',
    sessionTime(row.paid_until).slice(0, 10),
    notes.join(', '),
  ];
}

function statusText({ status, suspended_reason }: DeskServerRow): string {
  return suspended_reason === null ? status : `${status} (${suspended_reason})`;
}

function factsOf(row: DeskServerRow): [string, string | null][] {
  const months = counted(row.billing_months, 'month');
  const renewal = row.auto_renew ? 'renews by itself' : 'is not to be renewed';
  return [
    ['server', showId('server', row.id)],
    ['name', row.name],
    ['customer', row.email],
    ['status', statusText(row)],
    ['plan', row.plan_id],
    ['region', row.region_id],
    ['host', row.host],
    ['IPv4', row.ipv4],
    ['IPv6', row.ipv6_prefix],
    ['made', `${sessionTime(row.created_at)} UTC`],
    ['paid until', `${sessionTime(row.paid_until)} UTC; ${renewal}`],
    ['price', `${centsText(row.price_cents_cycle)} USD for ${months}`],
    ['frozen', row.frozen_at && `since ${sessionTime(row.frozen_at)} UTC: ${row.freeze_reason}`],
    ['legal hold', row.hold_order],
    ['under way', underWay(row)],
    ['last fault', row.last_fault],
  ];
}

/** What a worker is at, and how often it has tried. */
function underWay({ operation, step, begun_at, attempts }: DeskServerRow): string | null {
  if (operation === null || begun_at === null) return null;
  const tried = attempts ? `, ${counted(attempts, 'try', 'tries')} failed` : '';
  return `${operation} since ${sessionTime(begun_at)} UTC, at ${step}${tried}`;
}

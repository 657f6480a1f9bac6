/** `servers list`, `servers show`; what may be done to one is in server-levers.ts. */
import { type Command, Option } from 'commander';
import { type DeskQuery, findServerForOperator, listServersForOperator } from '../domain/servers/desk.ts';
import { SERVER_STATUSES } from '../spec/states.ts';
import type { OperatorContext } from './context.ts';
import { wholeAboveZero } from './options.ts';
import { addServerLevers } from './server-levers.ts';
import { serverColumns, serverFacts } from './server-text.ts';
import { facts, table, tellMore } from './table.ts';

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
      for (const line of table([heading, ...found.map(serverColumns)])) terminal.out(line);
      if (more) terminal.err(tellMore(found.length, 'server'));
    });
  servers
    .command('show')
    .argument('<id or address>', 'srv_…, or an IPv4 or IPv6 address that the server has now')
    .description('print all about one server')
    .action(async (idOrAddress: string) => {
      const { service } = await doors.service();
      for (const line of facts(serverFacts(await findServerForOperator(service, idOrAddress))))
        terminal.out(line);
    });
  addServerLevers(servers, { doors, terminal });
}

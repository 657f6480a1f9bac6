/** `servers list`, `servers show`; what may be done to one is in server-levers.ts. */
import { type Command, Option } from 'commander';
import {
  findServerForOperator,
  listServersForOperator,
  type OperatorServerQuery,
} from '../domain/servers/operator-servers.ts';
import { SERVER_STATUSES } from '../spec/states.ts';
import type { OperatorContext } from './context.ts';
import { parsePositiveInt } from './options.ts';
import { addServerControls } from './server-controls.ts';
import { serverColumns, serverFacts } from './server-format.ts';
import { formatFacts, formatMoreHint, formatTable } from './table.ts';

const LIMIT = 100;

export function addServers(program: Command, { resources, terminal }: OperatorContext): void {
  const servers = program.command('servers').description('customers’ servers');
  servers
    .command('list')
    .option('--customer <email>', 'only this customer’s')
    .addOption(new Option('--status <word>', 'only in this status').choices(SERVER_STATUSES))
    .option('--region <code>', 'only in this region, such as par')
    .option('--host <name>', 'only on this host or machine')
    .option('--frozen', 'only those that were frozen')
    .option('--held', 'only those under a legal hold')
    .option('--limit <count>', `how many, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('print servers, newest first')
    .action(async (query: OperatorServerQuery) => {
      const { service } = await resources.service();
      const { servers: rows, hasMore } = await listServersForOperator(service, query);
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
      for (const line of formatTable([heading, ...rows.map(serverColumns)])) terminal.out(line);
      if (hasMore) terminal.err(formatMoreHint(rows.length, 'server'));
    });
  servers
    .command('show')
    .argument('<id or address>', 'srv_…, or an IPv4 or IPv6 address that the server has now')
    .description('print all about one server')
    .action(async (idOrAddress: string) => {
      const { service } = await resources.service();
      for (const line of formatFacts(serverFacts(await findServerForOperator(service, idOrAddress))))
        terminal.out(line);
    });
  addServerControls(servers, { resources, terminal });
}

/** `servers list`, `servers show`; the commands that change a server are in controls.ts and acts.ts. */
import { type Command, Option } from 'commander';
import {
  findServerForOperator,
  listServersForOperator,
  type OperatorServerQuery,
} from '../../domain/servers/operator/find.ts';
import { toServerObject } from '../../domain/staff/objects.ts';
import { SERVER_STATUSES } from '../../spec/states.ts';
import type { OperatorContext } from '../context.ts';
import { serverColumns, serverFacts } from '../format/server.ts';
import { formatMoreHint } from '../format/table.ts';
import { parsePositiveInt } from '../options.ts';
import { addServerActs } from './acts.ts';
import { addServerControls } from './controls.ts';
import { addBlackholes } from './floods.ts';

const LIMIT = 100;
const HEADING = ['server', 'customer', 'name', 'status', 'plan', 'region', 'host', 'IPv4', 'paid until', ''];

export function addServers(program: Command, { resources, terminal }: OperatorContext): void {
  const servers = program.command('servers').description('Manage customers’ servers');
  servers
    .command('list')
    .option('--search <text>', 'Name, id, customer, address, host, plan, region, or label')
    .option('--customer <email>', 'Only servers of this customer')
    .addOption(new Option('--status <word>', 'Only this status').choices(SERVER_STATUSES))
    .option('--region <code>', 'Only this region, such as par')
    .option('--plan <id>', 'Only this plan')
    .option('--label <key=value>', 'Only servers with these labels')
    .option('--host <name>', 'Only on this host or machine')
    .option('--frozen', 'Only frozen servers')
    .option('--held', 'Only servers under a legal hold')
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('List servers, newest first')
    .action(async (query: OperatorServerQuery) => {
      const { service } = await resources.service();
      const { servers: rows, hasMore } = await listServersForOperator(service, query);
      terminal.table(HEADING, rows.map(serverColumns));
      terminal.document(rows.map(toServerObject));
      if (hasMore) terminal.err(formatMoreHint(rows.length, 'server'));
    });
  servers
    .command('show')
    .argument('<id or address>', 'srv_…, or the current IPv4 or IPv6 address of the server')
    .description('Show one server in detail')
    .action(async (idOrAddress: string) => {
      const { service } = await resources.service();
      const row = await findServerForOperator(service, idOrAddress);
      terminal.facts(serverFacts(row));
      terminal.document(toServerObject(row));
    });
  addServerActs(servers, { resources, terminal });
  addServerControls(servers, { resources, terminal });
  addBlackholes(servers, { resources, terminal });
}

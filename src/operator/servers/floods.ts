/** `floods`: floods of packets, and the blackholes of servers. */
import { type Command, Option } from 'commander';
import { blackholeServer, requireLifted } from '../../domain/servers/floods/blackhole.ts';
import {
  blackholeByFlood,
  type Flood,
  type FloodQuery,
  liftByFlood,
  listFloodsForStaff,
  readFlood,
} from '../../domain/servers/floods/read.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import {
  BLACKHOLE_TARGETS,
  type BlackholeTarget,
  FLOOD_DIRECTIONS,
  FLOOD_STATES,
} from '../../spec/staff/floods.ts';
import type { OperatorContext } from '../context.ts';
import { formatMoreHint } from '../format/table.ts';
import { parseBlackholeMinutes, parsePositiveInt } from '../options.ts';

const LIMIT = 100;
const ID = 'Id of the flood, fld_…';
const REASON = 'For the staff log';
const MINUTES = 'Then packets pass again; at most a week';
const HEADING = ['flood', 'direction', 'state', 'server', 'customer', 'host', 'packets/s', 'began (UTC)'];

interface BlackholeOptions {
  readonly minutes: number;
  readonly address?: BlackholeTarget;
  readonly reason: string;
}

export function addFloods(program: Command, context: OperatorContext): void {
  const floods = program.command('floods').description('Show and stop floods of packets');
  addQueries(floods, context);
  addActs(floods, context);
}

function addQueries(floods: Command, { resources, terminal }: OperatorContext): void {
  floods
    .command('list')
    .addOption(new Option('--state <word>', 'Only this state').choices(FLOOD_STATES))
    .addOption(new Option('--direction <word>', 'Only to or from servers').choices(FLOOD_DIRECTIONS))
    .option('--customer <email>', 'Only servers of this customer')
    .option('--server <id>', 'Only this server, srv_…')
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('List floods of packets, newest first')
    .action(async (query: FloodQuery) => {
      const { service } = await resources.service();
      const { floods: found, hasMore } = await listFloodsForStaff(service, query);
      terminal.table(HEADING, found.map(floodColumns));
      terminal.document(found);
      if (hasMore) terminal.err(formatMoreHint(found.length, 'flood'));
    });
  floods
    .command('show')
    .argument('<id>', ID)
    .description('Show a flood')
    .action(async (id: string) => {
      const { service } = await resources.service();
      const flood = await readFlood(service, id);
      const { object: _, ...facts } = flood;
      terminal.facts(
        Object.entries(facts).map(([name, value]) => [name, value === null ? null : String(value)]),
      );
      terminal.document(flood);
    });
}

function floodColumns(row: Flood): string[] {
  const began = row.began_at.slice(0, 16).replace('T', ' ');
  const server = row.server_name ?? row.server;
  const packets = String(row.peak_packets_per_s);
  return [row.id, row.direction, row.state, server, row.customer, row.host ?? '', packets, began];
}

function addActs(floods: Command, { resources, terminal }: OperatorContext): void {
  floods
    .command('blackhole')
    .argument('<id>', ID)
    .requiredOption('--minutes <count>', MINUTES, parseBlackholeMinutes)
    .requiredOption('--reason <text>', REASON)
    .addOption(new Option('--address <word>', 'Default: that of the flood').choices(BLACKHOLE_TARGETS))
    .description('Drop all packets to and from a flooded address')
    .action(async (id: string, { minutes, address, reason }: BlackholeOptions) => {
      const { service } = await resources.service();
      const order = { minutes, ...(address && { target: address }) };
      const flood = await recordCommandOn(
        service,
        'floods.blackhole',
        { kind: 'flood', name: id, reason },
        () => blackholeByFlood(service, id, order),
      );
      terminal.out(`${flood.id}: blackholed until ${flood.blackhole_until}`);
      terminal.document(flood);
    });
  floods
    .command('lift')
    .argument('<id>', ID)
    .requiredOption('--reason <text>', REASON)
    .description('Let packets of a flooded server pass again')
    .action(async (id: string, { reason }: { reason: string }) => {
      const { service } = await resources.service();
      const flood = await recordCommandOn(service, 'floods.lift', { kind: 'flood', name: id, reason }, () =>
        liftByFlood(service, id),
      );
      terminal.out(`${flood.id}: the blackhole is lifted`);
      terminal.document(flood);
    });
}

/** `servers blackhole`, `servers lift-blackhole`. */
export function addBlackholes(servers: Command, { resources, terminal }: OperatorContext): void {
  servers
    .command('blackhole')
    .argument('<id>', 'srv_…')
    .requiredOption('--minutes <count>', MINUTES, parseBlackholeMinutes)
    .requiredOption('--reason <text>', REASON)
    .addOption(new Option('--address <word>', 'Whose packets').choices(BLACKHOLE_TARGETS).default('both'))
    .description('Drop all packets to and from the addresses of a server')
    .action(async (id: string, { minutes, address = 'both', reason }: BlackholeOptions) => {
      const { service } = await resources.service();
      const target = { kind: 'server', name: id, reason } as const;
      await recordCommandOn(service, 'servers.blackhole', target, () =>
        blackholeServer(service, id, { target: address, minutes }),
      );
      terminal.out(`${id}: packets are dropped for ${minutes} minutes`);
    });
  servers
    .command('lift-blackhole')
    .argument('<id>', 'srv_…')
    .requiredOption('--reason <text>', REASON)
    .description('Let packets of a server pass again')
    .action(async (id: string, { reason }: { reason: string }) => {
      const { service } = await resources.service();
      const target = { kind: 'server', name: id, reason } as const;
      await recordCommandOn(service, 'servers.lift_blackhole', target, () => requireLifted(service, id));
      terminal.out(`${id}: packets pass again`);
    });
}

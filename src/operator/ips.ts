/** `ips add`, `ips block`, `ips unblock`, `ips show`, `ips list`. */
import type { Command } from 'commander';
import { addBlock, blockAddresses } from '../domain/inventory/blocks.ts';
import { type AssignmentObject, readAddress } from '../domain/staff/addresses.ts';
import { recordCommand } from '../domain/staff/perform.ts';
import { countPool } from '../store/inventory/addresses.ts';
import type { OperatorContext } from './context.ts';
import { addList, formatCount } from './format/table.ts';
import { parseTime } from './options.ts';

interface BlockOptions {
  readonly region: string;
  readonly block: string;
  readonly gateway?: string;
}

export function addIps(program: Command, context: OperatorContext): void {
  const { resources, terminal } = context;
  const ips = program.command('ips').description('Manage the address pool');
  ips
    .command('add')
    .requiredOption('--region <code>', 'Region code, such as par')
    .requiredOption('--block <cidr>', 'IPv4 /16 to /32, or IPv6 /32 to /64')
    .option('--gateway <address>', 'Default: the first address of an IPv4 block, fe80::1 for IPv6')
    .description('Add a block; a server gets one /64 of an IPv6 block, up to 65,536 per block')
    .action(async ({ region, block, gateway }: BlockOptions) => {
      const { service } = await resources.service();
      const added = await recordCommand(service, { operation: 'addresses.add', target: null }, () =>
        addBlock(service, { regionId: region, block, gateway: gateway ?? null }),
      );
      const addedText = block.includes(':')
        ? formatCount(added, '/64')
        : formatCount(added, 'address', 'addresses');
      terminal.out(`${addedText} added to ${region}`);
    });
  for (const [verb, blocked] of [
    ['block', true],
    ['unblock', false],
  ] as const) {
    ips
      .command(verb)
      .argument('<address or cidr>')
      .description(blocked ? 'Stop assigning these addresses' : 'Return these addresses to the pool')
      .action(async (range: string) => {
        const { service } = await resources.service();
        const act = { operation: blocked ? 'addresses.block' : 'addresses.unblock', target: null } as const;
        const { changed, assigned } = await recordCommand(service, act, () =>
          blockAddresses(service, range, blocked),
        );
        const held = formatCount(assigned, 'server');
        const note = blocked && assigned > 0 ? `; ${held} keeps its current address until deleted` : '';
        terminal.out(`${formatCount(changed, 'address', 'addresses')} ${verb}ed${note}`);
      });
  }
  addShow(ips, context);
  addList(ips, context, {
    about: 'List the pool by region',
    heading: ['region', 'family', 'free', 'assigned', 'released', 'blocked'],
    read: async (service) =>
      (await countPool(service.db, service.clock.now())).map((row) => [
        row.region_id,
        row.family === 4 ? 'IPv4' : 'IPv6 /64',
        ...[row.free, row.held, row.resting, row.blocked].map(String),
      ]),
  });
}

function addShow(ips: Command, { resources, terminal }: OperatorContext): void {
  ips
    .command('show')
    .argument('<address>')
    .option('--at <time>', 'Show who had it then, such as 2026-12-01T22:00:00Z', parseTime)
    .description('Show who has an address, and who had it')
    .action(async (address: string, { at = null }: { at?: Date | null }) => {
      const { service } = await resources.service();
      const found = await readAddress(service, address, at);
      terminal.facts([
        ['state', `${found.state}${found.blocked && found.state === 'assigned' ? ', blocked' : ''}`],
        ['server', found.server],
        ['customer', found.customer],
        ['names', found.names.join(' ') || null],
        ['region', found.region],
        ['block', found.block],
        ['gateway', found.gateway],
        ['available from', found.free_from],
        ['kept for', found.held_by_host],
      ]);
      terminal.table(HISTORY_HEADING, found.history.map(historyColumns));
      terminal.document(found);
    });
}

const HISTORY_HEADING = ['from', 'until', 'server', 'customer'];

function historyColumns({
  from,
  until,
  server,
  customer,
  customer_email: email,
}: AssignmentObject): string[] {
  return [from, until ?? '', server, email ?? customer];
}

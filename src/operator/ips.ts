/** `ips add`, `ips block`, `ips unblock`, `ips list`. */
import type { Command } from 'commander';
import { blockAddresses } from '../domain/inventory/block-addresses.ts';
import { addBlock } from '../domain/inventory/blocks.ts';
import { countPool } from '../store/addresses.ts';
import type { OperatorContext } from './context.ts';
import { formatCount, formatTable } from './table.ts';

interface BlockOptions {
  readonly region: string;
  readonly block: string;
  readonly gateway?: string;
}

export function addIps(program: Command, { resources, terminal }: OperatorContext): void {
  const ips = program.command('ips').description('the pool of addresses');
  ips
    .command('add')
    .requiredOption('--region <code>', 'such as par')
    .requiredOption('--block <cidr>', 'an IPv4 /16 to /32, or an IPv6 /32 to /64')
    .option('--gateway <address>', 'default: the first address of an IPv4 block, fe80::1 for IPv6')
    .description('add a block; an IPv6 block gives one /64 to a server, 65,536 at most')
    .action(async ({ region, block, gateway }: BlockOptions) => {
      const { service } = await resources.service();
      const added = await addBlock(service, { regionId: region, block, gateway: gateway ?? null });
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
      .description(blocked ? 'never hand these out again' : 'put these back into the pool')
      .action(async (range: string) => {
        const { service } = await resources.service();
        const { changed, assigned } = await blockAddresses(service, range, blocked);
        const note =
          blocked && assigned > 0
            ? `; ${formatCount(assigned, 'server')} keeps its own until it is gone`
            : '';
        terminal.out(`${formatCount(changed, 'address', 'addresses')} ${verb}ed${note}`);
      });
  }
  ips
    .command('list')
    .description('print the pool by region')
    .action(async () => {
      const { service } = await resources.service();
      const rows = (await countPool(service.db, service.clock.now())).map((row) => [
        row.region_id,
        row.family === 4 ? 'IPv4' : 'IPv6 /64',
        ...[row.free, row.held, row.resting, row.blocked].map(String),
      ]);
      const heading = ['region', 'family', 'free', 'held', 'resting', 'blocked'];
      for (const line of formatTable([heading, ...rows])) terminal.out(line);
    });
}

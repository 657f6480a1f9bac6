/** `ips add`, `ips block`, `ips unblock`, `ips list`. */
import type { Command } from 'commander';
import { addBlock } from '../domain/inventory/blocks.ts';
import { withholdAddresses } from '../domain/inventory/withhold.ts';
import { countPool } from '../store/addresses.ts';
import type { OperatorContext } from './context.ts';
import { counted, table } from './table.ts';

interface BlockOptions {
  readonly region: string;
  readonly block: string;
  readonly gateway?: string;
}

export function addIps(program: Command, { doors, terminal }: OperatorContext): void {
  const ips = program.command('ips').description('the pool of addresses');
  ips
    .command('add')
    .requiredOption('--region <code>', 'such as par')
    .requiredOption('--block <cidr>', 'an IPv4 /16 to /32, or an IPv6 /32 to /64')
    .option('--gateway <address>', 'default: the first address of an IPv4 block, fe80::1 for IPv6')
    .description('add a block; an IPv6 block gives one /64 to a server, 65,536 at most')
    .action(async ({ region, block, gateway }: BlockOptions) => {
      const { service } = await doors.service();
      const made = await addBlock(service, { regionId: region, block, gateway: gateway ?? null });
      const what = block.includes(':') ? counted(made, '/64') : counted(made, 'address', 'addresses');
      terminal.out(`${what} added to ${region}`);
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
        const { service } = await doors.service();
        const { changed, held } = await withholdAddresses(service, range, blocked);
        const still =
          blocked && held > 0 ? `; ${counted(held, 'server')} keeps its own until it is gone` : '';
        terminal.out(`${counted(changed, 'address', 'addresses')} ${verb}ed${still}`);
      });
  }
  ips
    .command('list')
    .description('print the pool by region')
    .action(async () => {
      const { service } = await doors.service();
      const rows = (await countPool(service.db, service.clock.now())).map((row) => [
        row.region_id,
        row.family === 4 ? 'IPv4' : 'IPv6 /64',
        ...[row.free, row.held, row.resting, row.blocked].map(String),
      ]);
      const heading = ['region', 'family', 'free', 'held', 'resting', 'blocked'];
      for (const line of table([heading, ...rows])) terminal.out(line);
    });
}

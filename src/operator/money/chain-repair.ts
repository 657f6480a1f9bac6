/** `chain skip`, `chain reread`: repair after a database restore or missed payments. */
import { Argument, type Command } from 'commander';
import { systemActor } from '../../domain/record.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import { rereadChain, skipAddresses } from '../../domain/topups/chains/repair.ts';
import { COIN_CODES, type CoinCode } from '../../spec/coins.ts';
import type { OperatorContext } from '../context.ts';
import { formatCount } from '../format/table.ts';
import { parseNonNegativeInt, parsePositiveInt } from '../options.ts';

export function addSkip(chain: Command, { resources, terminal }: OperatorContext): void {
  chain
    .command('skip')
    .addArgument(new Argument('<coin>', 'Coin whose addresses to skip').choices(COIN_CODES))
    .argument('<count>', 'How many; more than were issued since the backup', parsePositiveInt)
    .description('Never issue the next addresses; use after restoring the database from a backup')
    .action(async (coin: CoinCode, count: number) => {
      const { service } = await resources.service();
      const actor = systemActor(service.clock.now());
      const target = { kind: 'coin', name: coin } as const;
      const skipped = await recordCommandOn(service, 'coins.skip_addresses', target, () =>
        skipAddresses(service, actor, { coin, count }),
      );
      if ('next' in skipped) terminal.out(`the next ${coin} address has index ${skipped.next}`);
      else terminal.out(`${formatCount(skipped.addresses, `${coin} address`, `${coin} addresses`)} skipped`);
    });
}

export function addReread(chain: Command, { resources, terminal }: OperatorContext): void {
  chain
    .command('reread')
    .addArgument(new Argument('<coin>', 'Coin whose blocks to read').choices(COIN_CODES))
    .requiredOption('--from <height>', 'First block to read again', parseNonNegativeInt)
    .description('Read blocks again to find missed payments; nothing is credited twice')
    .action(async (coin: CoinCode, { from: height }: { readonly from: number }) => {
      const { service } = await resources.service();
      const actor = systemActor(service.clock.now());
      await recordCommandOn(service, 'coins.reread', { kind: 'coin', name: coin }, () =>
        rereadChain(service, actor, { coin, height }),
      );
      terminal.out(`${coin} will be read again from block ${height}, starting with the next poll`);
    });
}

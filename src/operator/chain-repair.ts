/** `chain skip`, `chain reread`: what a database that was put back, or payments that were missed, need. */
import { Argument, type Command } from 'commander';
import { systemActor } from '../domain/record.ts';
import { rereadChain } from '../domain/topups/reread.ts';
import { skipAddresses } from '../domain/topups/skip.ts';
import { COIN_CODES, type CoinCode } from '../spec/coins.ts';
import type { OperatorContext } from './context.ts';
import { parseNonNegativeInt, parsePositiveInt } from './options.ts';
import { formatCount } from './table.ts';

export function addSkip(chain: Command, { resources, terminal }: OperatorContext): void {
  chain
    .command('skip')
    .addArgument(new Argument('<coin>', 'whose addresses').choices(COIN_CODES))
    .argument('<count>', 'how many; more than were given out since the backup', parsePositiveInt)
    .description('never give out the next addresses: for a database that was put back from a backup')
    .action(async (coin: CoinCode, count: number) => {
      const { service } = await resources.service();
      const skipped = await skipAddresses(service, systemActor(service.clock.now()), { coin, count });
      if ('next' in skipped) terminal.out(`the next address of ${coin} has number ${skipped.next}`);
      else terminal.out(`${formatCount(skipped.addresses, 'address', 'addresses')} of ${coin} passed by`);
    });
}

export function addReread(chain: Command, { resources, terminal }: OperatorContext): void {
  chain
    .command('reread')
    .addArgument(new Argument('<coin>', 'whose blocks').choices(COIN_CODES))
    .requiredOption('--from <height>', 'the first block to be read again', parseNonNegativeInt)
    .description('read blocks again, for payments that were missed; nothing is credited twice')
    .action(async (coin: CoinCode, { from: height }: { readonly from: number }) => {
      const { service } = await resources.service();
      await rereadChain(service, systemActor(service.clock.now()), { coin, height });
      terminal.out(`${coin} is read again from block ${height} on, as soon as a worker looks at it`);
    });
}

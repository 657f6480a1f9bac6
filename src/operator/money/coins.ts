/** `chain list`, `chain show`, `chain paid`: coins, and the addresses to sweep. */
import { Argument, type Command } from 'commander';
import { listSweep, type SweepQuery } from '../../domain/topups/addresses/sweep.ts';
import { type CoinObject, listCoinObjects, readCoinObject } from '../../domain/topups/chains/describe.ts';
import { COIN_CODES, type CoinCode } from '../../spec/coins.ts';
import type { OperatorContext } from '../context.ts';
import { formatMoreHint } from '../format/table.ts';
import { parsePositiveInt } from '../options.ts';

const LIMIT = 1_000;
const HEADING = 'coin,state,USD,spread %,read to block,read completely,addresses,free in pool'.split(',');

export function addCoins(chain: Command, { resources, terminal }: OperatorContext): void {
  chain
    .command('list')
    .description('List coins with their rates, chains, and addresses')
    .action(async () => {
      const { service } = await resources.service();
      const coins = await listCoinObjects(service);
      terminal.table(HEADING, coins.map(coinColumns));
      terminal.document(coins);
    });
  chain
    .command('show')
    .addArgument(new Argument('<coin>', 'Code of the coin').choices(COIN_CODES))
    .description('Show one coin and the latest prices')
    .action(async (coin: CoinCode) => {
      const { service } = await resources.service();
      const shown = await readCoinObject(service, coin);
      terminal.facts(coinFacts(shown));
      terminal.out('');
      const rows = shown.quotes.map(({ source, usd, at }) => [source, usd, at]);
      terminal.table(['source', 'USD', 'at'], rows);
      terminal.document(shown);
    });
  chain
    .command('paid')
    .addArgument(new Argument('<coin>', 'Coin of the addresses').choices(COIN_CODES))
    .option('--since <time>', 'Only addresses that were paid since this day or time')
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('List the addresses that received payments, to sweep them')
    .action(async (coin: CoinCode, query: Omit<SweepQuery, 'coin'>) => {
      const { service } = await resources.service();
      const { addresses, more } = await listSweep(service, { ...query, coin });
      const rows = addresses.map((row) => [
        row.address,
        `${row.received} ${row.coin}`,
        String(row.payments),
        row.last_paid_at,
        row.order_ref,
      ]);
      terminal.table(['address', 'received', 'payments', 'last paid', 'order_ref'], rows);
      terminal.document(addresses);
      if (more) terminal.err(formatMoreHint(addresses.length, 'address', 'addresses'));
    });
}

function coinColumns(row: CoinObject): string[] {
  return [
    row.id,
    row.state,
    row.rate_usd ?? '',
    row.spread_percent ?? '',
    row.height === null ? '' : String(row.height),
    row.read_at ?? '',
    String(row.addresses_given),
    row.pool_free === null ? '' : String(row.pool_free),
  ];
}

function coinFacts(row: CoinObject): [string, string | null][] {
  return [
    ['coin', `${row.id} on ${row.network}`],
    ['state', row.state],
    ['rate', row.rate_usd && `${row.rate_usd} USD from ${row.rate_sources.join(', ')}`],
    ['no rate', row.rate_problem],
    ['oldest price', row.rate_at],
    ['spread', row.spread_percent && `${row.spread_percent} %`],
    ['read to block', row.height === null ? null : String(row.height)],
    ['read completely', row.read_at],
    ['failed polls', row.failures > 0 ? String(row.failures) : null],
    ['last error', row.last_fault],
    ['next index', String(row.next_index)],
    ['addresses', String(row.addresses_given)],
    ['pool', row.pool_free === null ? null : `${row.pool_free} of ${row.pool_size} free`],
  ];
}

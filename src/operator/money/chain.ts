/** `chain`: the nodes of real coins, their prices, and the issued addresses. */
import { readFileSync, statSync } from 'node:fs';
import { Argument, type Command } from 'commander';
import { systemActor } from '../../domain/record.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import {
  FREE_COUNT_MAX,
  importAddresses,
  isPoolCoin,
  POOL_COINS,
} from '../../domain/topups/addresses/pool.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import { COIN_CODES, type CoinCode } from '../../spec/coins.ts';
import { findIssuedAddresses, type IssuedAddress, listPoolAddresses } from '../../store/topups/addresses.ts';
import type { OpenService, OperatorContext } from '../context.ts';
import { ADDRESS_HEADING, type AddressLine, addressRow, explainNoAddresses } from '../format/address.ts';
import { reportFindings } from '../format/findings.ts';
import { formatCount } from '../format/table.ts';
import { parseNonNegativeInt, parsePositiveInt } from '../options.ts';
import { addReread, addSkip } from './chain-repair.ts';
import { checkChains } from './chains.ts';
import { addCoins } from './coins.ts';

const DEFAULT_COUNT = 10;
const MAX_COUNT = 10_000;
/** Holds a few hundred thousand addresses. */
const FILE_MAX_BYTES = 16 * 1024 ** 2;

export function addChain(program: Command, context: OperatorContext): void {
  const chain = program
    .command('chain')
    .description('Check the nodes of real coins and manage deposit addresses');
  addCoins(chain, context);
  addDoctor(chain, context);
  addAddresses(chain, context);
  addImport(chain, context);
  addSkip(chain, context);
  addReread(chain, context);
}

function addDoctor(chain: Command, { resources, terminal }: OperatorContext): void {
  chain
    .command('doctor')
    .description('Check every node and every price; exits 1 if anything needs attention')
    .action(async () => {
      const findings = await checkChains(await resources.service());
      reportFindings(findings, terminal);
    });
}

interface AddressOptions {
  readonly from: number;
  readonly count: number;
  readonly paid?: true;
}

function addAddresses(chain: Command, { resources, terminal }: OperatorContext): void {
  chain
    .command('addresses')
    .addArgument(new Argument('<coin>', 'Coin of the addresses').choices(COIN_CODES))
    .option('--from <number>', 'Index of the first address', parseNonNegativeInt, 0)
    .option(
      '--count <count>',
      `Number of addresses, default ${DEFAULT_COUNT}, at most ${MAX_COUNT}`,
      parsePositiveInt,
      DEFAULT_COUNT,
    )
    .option('--paid', 'Only addresses in this range that received a payment')
    .description('List addresses by index, to compare them with your offline wallet')
    .action(async (coin: CoinCode, options: AddressOptions) => {
      if (options.count > MAX_COUNT) throw new OperatorError(`--count must be at most ${MAX_COUNT}`);
      const { service, coins } = await resources.service();
      const lines = await withAllocations(service.db, await listAddresses({ service, coins }, coin, options));
      const rows = lines.filter(({ given }) => !options.paid || (given?.units ?? 0n) > 0n).map(addressRow);
      terminal.table(ADDRESS_HEADING, rows);
    });
}

type DerivedAddress = Omit<AddressLine, 'given'>;

async function listAddresses(
  { service, coins }: Pick<OpenService, 'service' | 'coins'>,
  coin: CoinCode,
  { from, count }: AddressOptions,
): Promise<DerivedAddress[]> {
  if (coins !== null && isPoolCoin(coin)) {
    const addresses = await listPoolAddresses(service.db, coin, from + count);
    return addresses.map((address, number) => ({ number, path: '', coin, address })).slice(from);
  }
  const deriver = coins?.deriverFor(coin) ?? null;
  if (deriver === null) throw new OperatorError(explainNoAddresses(coin, coins !== null));
  const lines: DerivedAddress[] = [];
  for (let number = from; number < from + count; number++) {
    const address = await deriver.addressAt(number);
    lines.push({ number, path: `${deriver.path}${number}`, coin: deriver.coinAt(number), address });
  }
  return lines;
}

async function withAllocations(db: Sql, lines: readonly DerivedAddress[]): Promise<AddressLine[]> {
  const given = new Map<string, IssuedAddress>();
  for (const [coin, some] of Map.groupBy(lines, (line) => line.coin)) {
    if (coin === null) continue;
    const addresses = some.map(({ address }) => address);
    for (const each of await findIssuedAddresses(db, coin, addresses)) given.set(each.address, each);
  }
  return lines.map((line) => ({ ...line, given: given.get(line.address) ?? null }));
}

function addImport(chain: Command, { resources, terminal }: OperatorContext): void {
  chain
    .command('import')
    .addArgument(new Argument('<coin>', 'Coin whose addresses cannot be derived').choices(POOL_COINS))
    .argument('<file>', 'Addresses created offline, one per line; never a private key')
    .description('Add addresses to the pool, to be issued in this order')
    .action(async (coin: (typeof POOL_COINS)[number], file: string) => {
      const text = readAddressFile(file);
      const { service } = await resources.service();
      const actor = systemActor(service.clock.now());
      const target = { kind: 'coin', name: coin } as const;
      const { added, known, free } = await recordCommandOn(service, 'coins.import_addresses', target, () =>
        importAddresses(service, actor, { coin, text }),
      );
      const available = free < FREE_COUNT_MAX ? free : `${free} or more`;
      terminal.out(
        `${formatCount(added, 'address', 'addresses')} added, ${known} already known; ` +
          `${available} of ${coin} available`,
      );
    });
}

function readAddressFile(file: string): string {
  try {
    if (statSync(file).size <= FILE_MAX_BYTES) return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OperatorError(`cannot read the address file (${code})`);
  }
  throw new OperatorError(`the address file is too large: at most ${FILE_MAX_BYTES / 1024 ** 2} MiB`);
}

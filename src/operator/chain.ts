/** `skerryd chain`: the nodes of real coins, and the addresses that are given out. */
import { readFileSync, statSync } from 'node:fs';
import { Argument, type Command } from 'commander';
import { systemActor } from '../domain/record.ts';
import { FREE_COUNTED, importAddresses, isPoolCoin, POOL_COINS } from '../domain/topups/address-pool.ts';
import { Refusal } from '../kernel/refusal.ts';
import type { Sql } from '../kernel/sql.ts';
import { COIN_CODES, type CoinCode } from '../spec/coins.ts';
import { findGiven, type Given, listPool } from '../store/own-addresses.ts';
import { addReread, addSkip } from './chain-mend.ts';
import { ADDRESS_HEADING, type AddressLine, addressRow, noNumbers } from './chain-text.ts';
import { examineChains } from './chains.ts';
import { FoundWrong, type OpenService, type OperatorContext } from './context.ts';
import { wholeAboveZero, wholeFromZero } from './options.ts';
import { counted, table } from './table.ts';

const WORDS = { ok: 'ok', note: 'note', look: 'LOOK' } as const;
const COUNT = 10;
const COUNT_MAX = 10_000;
/** Some hundred thousand addresses. */
const FILE_MAX_BYTES = 16 * 1024 ** 2;

export function addChain(program: Command, context: OperatorContext): void {
  const chain = program
    .command('chain')
    .description('real coins: their nodes, and the addresses that are given out');
  addDoctor(chain, context);
  addAddresses(chain, context);
  addImport(chain, context);
  addSkip(chain, context);
  addReread(chain, context);
}

function addDoctor(chain: Command, { doors, terminal }: OperatorContext): void {
  chain
    .command('doctor')
    .description('ask every node and look at every price; ends with 1 when something is wrong')
    .action(async () => {
      const found = await examineChains(await doors.service());
      for (const line of table(found.map(({ level, what, says }) => [WORDS[level], what, says]))) {
        terminal.out(line);
      }
      if (found.some(({ level }) => level === 'look')) throw new FoundWrong();
    });
}

interface Wanted {
  readonly from: number;
  readonly count: number;
  readonly paid?: true;
}

function addAddresses(chain: Command, { doors, terminal }: OperatorContext): void {
  chain
    .command('addresses')
    .addArgument(new Argument('<coin>', 'whose addresses').choices(COIN_CODES))
    .option('--from <number>', 'the first one', wholeFromZero, 0)
    .option('--count <count>', `how many, default ${COUNT}, at most ${COUNT_MAX}`, wholeAboveZero, COUNT)
    .option('--paid', 'of these only those that were paid')
    .description('print addresses by their numbers, to be compared with your offline wallet')
    .action(async (coin: CoinCode, wanted: Wanted) => {
      if (wanted.count > COUNT_MAX) throw new Refusal(`--count: give at most ${COUNT_MAX}`);
      const { service, coins } = await doors.service();
      const found = await withGiven(service.db, await linesOf({ service, coins }, coin, wanted));
      const rows = found.filter(({ given }) => !wanted.paid || (given?.units ?? 0n) > 0n).map(addressRow);
      for (const line of table([ADDRESS_HEADING, ...rows])) terminal.out(line);
    });
}

type Line = Omit<AddressLine, 'given'>;

async function linesOf(
  { service, coins }: Pick<OpenService, 'service' | 'coins'>,
  coin: CoinCode,
  { from, count }: Wanted,
): Promise<Line[]> {
  if (coins !== null && isPoolCoin(coin)) {
    const addresses = await listPool(service.db, coin, from + count);
    return addresses.map((address, number) => ({ number, path: '', coin, address })).slice(from);
  }
  const numbered = coins?.numbered(coin) ?? null;
  if (numbered === null) throw new Refusal(noNumbers(coin, coins !== null));
  const lines: Line[] = [];
  for (let number = from; number < from + count; number++) {
    const address = await numbered.addressAt(number);
    lines.push({ number, path: `${numbered.path}${number}`, coin: numbered.coinAt(number), address });
  }
  return lines;
}

async function withGiven(db: Sql, lines: readonly Line[]): Promise<AddressLine[]> {
  const given = new Map<string, Given>();
  for (const [coin, some] of Map.groupBy(lines, (line) => line.coin)) {
    if (coin === null) continue;
    const addresses = some.map(({ address }) => address);
    for (const each of await findGiven(db, coin, addresses)) given.set(each.address, each);
  }
  return lines.map((line) => ({ ...line, given: given.get(line.address) ?? null }));
}

function addImport(chain: Command, { doors, terminal }: OperatorContext): void {
  chain
    .command('import')
    .addArgument(new Argument('<coin>', 'of which no addresses can be derived').choices(POOL_COINS))
    .argument('<file>', 'addresses that you made offline, one a line; never a private key')
    .description('add addresses to the pool, to be given out in this order')
    .action(async (coin: (typeof POOL_COINS)[number], file: string) => {
      const text = readText(file);
      const { service } = await doors.service();
      const actor = systemActor(service.clock.now());
      const { added, known, free } = await importAddresses(service, actor, { coin, text });
      terminal.out(
        `${counted(added, 'address', 'addresses')} added, ${known} known before; ${free < FREE_COUNTED ? free : `${free} or more`} of ${coin} can be given out`,
      );
    });
}

function readText(file: string): string {
  try {
    if (statSync(file).size <= FILE_MAX_BYTES) return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Refusal(`the file of addresses cannot be read (${code})`);
  }
  throw new Refusal(`the file of addresses is too large: at most ${FILE_MAX_BYTES / 1024 ** 2} MiB`);
}

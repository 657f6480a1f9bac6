/** What about real coins does not get on, as far as the tables know it: for `status`. `chain doctor` asks the nodes. Prices are seen by `rateNotes`. */
import { DAY_MS, formatSessionTime, MINUTE_MS } from '../../kernel/time.ts';
import type { CoinCode } from '../../spec/coins.ts';
import { LIMITS } from '../../spec/limits.ts';
import { countFreeAddresses } from '../../store/address-pool.ts';
import { listCoinRows } from '../../store/coins.ts';
import { readWorthlessCoins } from '../../store/service.ts';
import {
  countDisputedPayments,
  countPaymentsBeforeTopup,
  countUnpaidByCoin,
  listStaleChains,
} from '../../store/status.ts';
import type { Service } from '../context.ts';
import { POOL_COINS } from './address-pool.ts';

export interface CoinFinding {
  readonly level: 'fail' | 'warn' | 'note';
  readonly subject: 'coins';
  readonly message: string;
}

export const NO_COINS: CoinFinding = {
  level: 'fail',
  subject: 'coins',
  message: 'none is taken, so nobody can pay: docs/operators/coins.md says which settings each needs',
};

const TEST_NETWORKS: CoinFinding = {
  level: 'note',
  subject: 'coins',
  message: 'coins of test networks are credited, which anybody has for nothing: let nobody in',
};

/** A node is some minutes behind the other at most, and a worker reads every chain all the time. */
const LATE_MS = 30 * MINUTE_MS;

const WEEK_MS = 7 * DAY_MS;
/** A block's time may be this much wrong. */
const BLOCK_TIME_SLACK_HOURS = 3;

type Deps = Pick<Service, 'db' | 'clock' | 'chains' | 'settings'>;

export async function coinFindings(service: Deps): Promise<readonly CoinFinding[]> {
  if (service.settings.mode === 'sandbox') return [];
  const taken = [...service.chains.keys()];
  if (taken.length === 0) return [NO_COINS];
  const late = new Date(service.clock.now().getTime() - LATE_MS);
  return [
    ...((await readWorthlessCoins(service.db)) ? [TEST_NETWORKS] : []),
    ...(await orphanedCoins(service)),
    ...(await unreadChains(service, taken, late)).map(asFailure),
    ...(await disputedPayments(service, late)),
    ...(await unpaidTopups(service)),
    ...(await reusedAddresses(service)).map(asFailure),
    ...(
      await Promise.all(
        POOL_COINS.filter((coin) => service.chains.has(coin)).map((coin) => lowPool(service, coin)),
      )
    ).flat(),
  ];
}

/** Whoever has an old address may pay to it at any time. */
async function orphanedCoins({ db, chains }: Deps): Promise<CoinFinding[]> {
  const rows = (await listCoinRows(db)).filter(({ code }) => !chains.has(code));
  return rows.map(({ code, next_index }): CoinFinding => {
    const message = `${code}: not taken any more; payments to addresses that were given out (${next_index}) are not seen`;
    return { level: 'note', subject: 'coins', message };
  });
}

async function unreadChains({ db }: Deps, taken: readonly CoinCode[], late: Date): Promise<CoinFinding[]> {
  return (await listStaleChains(db, { coins: taken, since: late })).map(({ code, read_at }) => {
    const until = read_at === null ? 'never read whole' : `not read since ${formatSessionTime(read_at)} UTC`;
    return warning(`${code}: ${until}: skerryd chain doctor says why, unless no worker runs`);
  });
}

/** They are not credited; should some have been, two nodes are on different chains. */
async function disputedPayments({ db }: Deps, late: Date): Promise<CoinFinding[]> {
  return (await countDisputedPayments(db, late)).map(({ coin, n, credited }) => {
    const which = credited > 0n ? `, ${credited} of them credited before` : '';
    return warning(
      `${coin}: ${n} payments are told by one source alone${which}: not by the second node, or no more by the node’s traces or wallet`,
    );
  });
}

/** Each has taken an address for ever. */
async function unpaidTopups({ db, clock }: Deps): Promise<CoinFinding[]> {
  const since = new Date(clock.now().getTime() - DAY_MS);
  const many = await countUnpaidByCoin(db, { since, few: LIMITS.unpaidTopupsWarning });
  return many.map(({ coin, n }) =>
    warning(
      `${coin}: ${n} top-ups of the last 24 hours are not paid; the gap of your wallet grows by as many: skerryd topups list --coin ${coin}`,
    ),
  );
}

/** The address belonged to somebody before: the database does not know it, or the wallet is used for something else. */
async function reusedAddresses({ db, clock }: Deps): Promise<CoinFinding[]> {
  const since = new Date(clock.now().getTime() - WEEK_MS);
  const older = await countPaymentsBeforeTopup(db, { since, byHours: BLOCK_TIME_SLACK_HOURS });
  return older.map(({ coin, n }) =>
    warning(
      `${coin}: ${n} payments are older than their top-ups: was a database put back? skerryd switch topup-credit off, skerryd chain skip ${coin} COUNT`,
    ),
  );
}

async function lowPool({ db }: Deps, coin: CoinCode): Promise<CoinFinding[]> {
  const few = LIMITS.addressPoolWarning;
  const free = await countFreeAddresses(db, coin, few);
  if (free >= few) return [];
  const now = free === 0 ? 'no address is left, so it is not taken' : `${free} addresses are left`;
  return [warning(`${coin}: ${now}: make some offline, and skerryd chain import ${coin} FILE`)];
}

function warning(message: string): CoinFinding {
  return { level: 'warn', subject: 'coins', message };
}

function asFailure(finding: CoinFinding): CoinFinding {
  return { ...finding, level: 'fail' };
}

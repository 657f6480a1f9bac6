/**
 * Reports problems of real coins from the database, for `status`. `chain doctor` queries nodes;
 * `rateFindings` covers prices.
 */
import { DAY_MS, formatSessionTime, MINUTE_MS } from '../../../kernel/time.ts';
import type { CoinCode } from '../../../spec/coins.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { readWorthlessCoins } from '../../../store/service/service.ts';
import {
  countDisputedPayments,
  countPaymentsBeforeTopup,
  countUnpaidByCoin,
  listStaleChains,
} from '../../../store/service/status.ts';
import { countFreeAddresses } from '../../../store/topups/addresses.ts';
import { listCoinRows } from '../../../store/topups/coins.ts';
import type { Service } from '../../context.ts';
import { POOL_COINS } from '../addresses/pool.ts';

export interface CoinFinding {
  readonly level: 'fail' | 'warn' | 'note';
  readonly subject: 'coins';
  readonly message: string;
}

export const NO_COINS = finding(
  'fail',
  'no coin is accepted, so no one can pay: see docs/operators/coins.md for the required settings',
);

const TEST_NETWORKS = finding(
  'note',
  'coins of test networks, which anyone has for free, are credited: do not open this service to others',
);

/** Nodes differ by minutes at most, and a worker reads every chain continuously. */
const LATE_MS = 30 * MINUTE_MS;

const WEEK_MS = 7 * DAY_MS;
/** The tolerance of a block's time. */
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
    ...(await unreadChains(service, taken, late)),
    ...(await disputedPayments(service, late)),
    ...(await unpaidTopups(service)),
    ...(await reusedAddresses(service)),
    ...(
      await Promise.all(
        POOL_COINS.filter((coin) => service.chains.has(coin)).map((coin) => lowPool(service, coin)),
      )
    ).flat(),
  ];
}

/** The holder of an old address may pay to it at any time. */
async function orphanedCoins({ db, chains }: Deps): Promise<CoinFinding[]> {
  const rows = (await listCoinRows(db)).filter(({ code }) => !chains.has(code));
  return rows.map(({ code, next_index }) =>
    finding(
      'note',
      `${code}: no longer accepted; payments to the ${next_index} addresses already given ` +
        'out are not seen',
    ),
  );
}

async function unreadChains({ db }: Deps, taken: readonly CoinCode[], late: Date): Promise<CoinFinding[]> {
  return (await listStaleChains(db, { coins: taken, since: late })).map(({ code, read_at }) => {
    const until =
      read_at === null ? 'never read completely' : `not read since ${formatSessionTime(read_at)} UTC`;
    return finding('fail', `${code}: ${until}: check that a worker runs, then see skerryd chain doctor`);
  });
}

/** Disputed payments are not credited. If some were, the two nodes are on different chains. */
async function disputedPayments({ db }: Deps, late: Date): Promise<CoinFinding[]> {
  return (await countDisputedPayments(db, late)).map(({ coin, n, credited }) => {
    const which = credited > 0n ? `, ${credited} of them already credited` : '';
    return finding(
      'warn',
      `${coin}: ${n} payments are confirmed by only one source${which}: missing from the second node, or ` +
        'from the node’s traces or wallet',
    );
  });
}

/** Every unpaid invoice uses up an address permanently. */
async function unpaidTopups({ db, clock }: Deps): Promise<CoinFinding[]> {
  const since = new Date(clock.now().getTime() - DAY_MS);
  const many = await countUnpaidByCoin(db, { since, few: LIMITS.unpaidTopupsWarning });
  return many.map(({ coin, n }) =>
    finding(
      'warn',
      `${coin}: ${n} top-ups of the last 24 hours are unpaid, which widens your wallet's address gap: ` +
        `skerryd topups list --coin ${coin}`,
    ),
  );
}

/** The address belonged to someone before: the database was restored, or the wallet has other uses. */
async function reusedAddresses({ db, clock }: Deps): Promise<CoinFinding[]> {
  const since = new Date(clock.now().getTime() - WEEK_MS);
  const older = await countPaymentsBeforeTopup(db, { since, byHours: BLOCK_TIME_SLACK_HOURS });
  return older.map(({ coin, n }) =>
    finding(
      'fail',
      `${coin}: ${n} payments are older than their top-ups. If a database was restored: skerryd switch ` +
        `topup-credit off, skerryd chain skip ${coin} COUNT`,
    ),
  );
}

async function lowPool({ db }: Deps, coin: CoinCode): Promise<CoinFinding[]> {
  const few = LIMITS.addressPoolWarning;
  const free = await countFreeAddresses(db, coin, few);
  if (free >= few) return [];
  const left = free === 0 ? 'no address is left, so the coin is not accepted' : `${free} addresses are left`;
  return [
    finding('warn', `${coin}: ${left}: create more offline, then run skerryd chain import ${coin} FILE`),
  ];
}

function finding(level: CoinFinding['level'], message: string): CoinFinding {
  return { level, subject: 'coins', message };
}

/** What about real coins does not get on, as far as the tables know it: for `status`. `chain doctor` asks the nodes. Prices are seen by `rateNotes`. */
import { DAY_MS, MINUTE_MS, sessionTime } from '../../kernel/time.ts';
import type { CoinCode } from '../../spec/coins.ts';
import { LIMITS } from '../../spec/limits.ts';
import { countFree } from '../../store/address-pool.ts';
import { listCoinRows } from '../../store/coins.ts';
import { readWorthless } from '../../store/service.ts';
import { countDisputed, countOlderPayments, listSilent, listUnpaid } from '../../store/status.ts';
import type { Service } from '../context.ts';
import { POOL_COINS } from './address-pool.ts';

export interface Alarm {
  readonly level: 'look' | 'note';
  readonly what: 'coins';
  readonly says: string;
}

export const NO_COIN: Alarm = {
  level: 'look',
  what: 'coins',
  says: 'none is taken, so nobody can pay: docs/coins.md says which settings each needs',
};

const WORTHLESS: Alarm = {
  level: 'note',
  what: 'coins',
  says: 'coins of test networks are credited, which anybody has for nothing: let nobody in',
};

/** A node is some minutes behind the other at most, and a worker reads every chain all the time. */
const LATE_MS = 30 * MINUTE_MS;

const WEEK_MS = 7 * DAY_MS;
/** A block's time may be this much wrong. */
const EARLIER_HOURS = 3;

type Parts = Pick<Service, 'db' | 'clock' | 'chains' | 'settings'>;

export async function coinAlarms(service: Parts): Promise<readonly Alarm[]> {
  if (service.settings.mode === 'sandbox') return [];
  const taken = [...service.chains.keys()];
  if (taken.length === 0) return [NO_COIN];
  const late = new Date(service.clock.now().getTime() - LATE_MS);
  return [
    ...((await readWorthless(service.db)) ? [WORTHLESS] : []),
    ...(await forsaken(service)),
    ...(await silent(service, taken, late)),
    ...(await disputed(service, late)),
    ...(await unpaid(service)),
    ...(await givenTwice(service)),
    ...(
      await Promise.all(
        POOL_COINS.filter((coin) => service.chains.has(coin)).map((coin) => pool(service, coin)),
      )
    ).flat(),
  ];
}

/** Whoever has an old address may pay to it at any time. */
async function forsaken({ db, chains }: Parts): Promise<Alarm[]> {
  const rows = (await listCoinRows(db)).filter(({ code }) => !chains.has(code));
  return rows.map(({ code, next_index }): Alarm => {
    const says = `${code}: not taken any more; payments to addresses that were given out (${next_index}) are not seen`;
    return { level: 'note', what: 'coins', says };
  });
}

async function silent({ db }: Parts, taken: readonly CoinCode[], late: Date): Promise<Alarm[]> {
  return (await listSilent(db, { coins: taken, since: late })).map(({ code, read_at }) => {
    const until = read_at === null ? 'never read whole' : `not read since ${sessionTime(read_at)} UTC`;
    return look(`${code}: ${until}: skerryd chain doctor says why, unless no worker runs`);
  });
}

/** They are not credited; should some have been, two nodes are on different chains. */
async function disputed({ db }: Parts, late: Date): Promise<Alarm[]> {
  return (await countDisputed(db, late)).map(({ coin, n, credited }) => {
    const which = credited > 0n ? `, ${credited} of them credited before` : '';
    return look(
      `${coin}: ${n} payments are told by one source alone${which}: not by the second node, or no more by the node’s traces or wallet`,
    );
  });
}

/** Each has taken an address for ever. */
async function unpaid({ db, clock }: Parts): Promise<Alarm[]> {
  const since = new Date(clock.now().getTime() - DAY_MS);
  const many = await listUnpaid(db, { since, few: LIMITS.unpaidTopupsWarning });
  return many.map(({ coin, n }) =>
    look(
      `${coin}: ${n} top-ups of the last 24 hours are not paid; the gap of your wallet grows by as many: skerryd topups list --coin ${coin}`,
    ),
  );
}

/** The address belonged to somebody before: the database does not know it, or the wallet is used for something else. */
async function givenTwice({ db, clock }: Parts): Promise<Alarm[]> {
  const since = new Date(clock.now().getTime() - WEEK_MS);
  const older = await countOlderPayments(db, { since, byHours: EARLIER_HOURS });
  return older.map(({ coin, n }) =>
    look(
      `${coin}: ${n} payments are older than their top-ups: was a database put back? skerryd switch topup-credit off, skerryd chain skip ${coin} COUNT`,
    ),
  );
}

async function pool({ db }: Parts, coin: CoinCode): Promise<Alarm[]> {
  const few = LIMITS.addressPoolWarning;
  const free = await countFree(db, coin, few);
  if (free >= few) return [];
  const now = free === 0 ? 'no address is left, so it is not taken' : `${free} addresses are left`;
  return [look(`${coin}: ${now}: make some offline, and skerryd chain import ${coin} FILE`)];
}

function look(says: string): Alarm {
  return { level: 'look', what: 'coins', says };
}

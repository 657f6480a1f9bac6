/**
 * A live service whose time leaps was away for long, or its database has the wrong time. No customer should
 * be charged for a month that has not come, so billing by date and retention stop until staff turn the
 * switch `renewals` on.
 */
import { DAY_MS, MINUTE_MS } from '../../kernel/time.ts';
import { lockCalendarTime, readCalendarTime, saveCalendarTime } from '../../store/service/service.ts';
import type { Service } from '../context.ts';
import { switchOff } from '../rules/switches.ts';

const LEAP_MS = 7 * DAY_MS;
const SAVE_EVERY_MS = 10 * MINUTE_MS;

type Deps = Pick<Service, 'db' | 'clock'> & { readonly settings: Pick<Service['settings'], 'mode'> };

/** Notes that the calendar has run until now. Returns false if the time has leapt since `ranUntil`. */
export async function advanceCalendar(
  service: Deps & Pick<Service, 'log'>,
  ranUntil: Date | null,
): Promise<boolean> {
  const { db, clock, log, settings } = service;
  // The clock of a sandbox is moved on purpose.
  if (settings.mode !== 'live') return true;
  const now = clock.now();
  if (hasLeapt(ranUntil, now)) {
    const days = Math.floor((now.getTime() - (ranUntil?.getTime() ?? 0)) / DAY_MS);
    const reason = `The time leapt by ${days} days: check the clock of the database, then turn this on.`;
    const changed = await db.transaction(async (tx) => {
      // Staff may have turned renewals on meanwhile.
      if (!hasLeapt(await lockCalendarTime(tx), now)) return false;
      return await switchOff(tx, 'renewals', reason, now);
    });
    if (changed) log.error({ days }, 'the time leapt, so billing by date was turned off');
    return false;
  }
  const isOld = ranUntil === null || now.getTime() - ranUntil.getTime() >= SAVE_EVERY_MS;
  if (isOld) await saveCalendarTime(db, now);
  return true;
}

/** Whether nothing may be deleted by date, because the time may be wrong. */
export async function isTimeInDoubt(service: Deps): Promise<boolean> {
  if (service.settings.mode !== 'live') return false;
  return hasLeapt(await readCalendarTime(service.db), service.clock.now());
}

function hasLeapt(ranUntil: Date | null, now: Date): boolean {
  return ranUntil !== null && now.getTime() - ranUntil.getTime() > LEAP_MS;
}

/** A finding of `status`, also if staff had turned renewals off before. */
export async function leapFindings(service: Deps) {
  if (!(await isTimeInDoubt(service))) return [];
  const message =
    'the time leapt, so nothing is charged or deleted by date: check the clock of the database, then run ' +
    '`skerryd switch renewals on`';
  return [{ level: 'fail' as const, subject: 'clock', message }];
}

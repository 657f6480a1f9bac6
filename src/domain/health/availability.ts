/**
 * Measures each component of the public status page once a minute, and adds the time since the last
 * measurement to its day. Only measured time counts. A gap in real time is an outage of the panel: no worker
 * could reach the database.
 */
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { regionComponent, type ServiceComponent } from '../../spec/public-status.ts';
import {
  type AvailabilityRow,
  addAvailability,
  type CheckRow,
  deleteOtherChecks,
  hasLateWebhooks,
  listAvailability,
  listChecks,
  listDeployTimes,
  listRegionHealth,
  type Measurement,
  saveCheck,
} from '../../store/service/availability.ts';
import { listIncidents } from '../../store/service/incidents.ts';
import type { Service } from '../context.ts';
import { readSwitches } from '../rules/switches.ts';
import { readCoins } from '../topups/offer.ts';

/** A restart of a host takes less. */
const HOST_AWAY_S = 60;
const WEBHOOKS_LATE_MS = 10 * MINUTE_MS;
const DEPLOYS_MS = 7 * DAY_MS;
/** The longest time for which a measurement stands: two intervals. */
const STANDS_S = 120;
/** A measurement this old says nothing about now. */
const STALE_MS = 5 * MINUTE_MS;
/** Enough to know the maintenance of the longest gap that counts. */
const MAINTENANCE_READ = 100;

type Deps = Pick<Service, 'db' | 'clock' | 'chains' | 'rates'>;

export async function measureAvailability(service: Deps): Promise<void> {
  const measurements = await measure(service);
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const checks = new Map((await listChecks(tx)).map((row) => [row.component, row]));
    for (const one of measurements) {
      const before = checks.get(one.component);
      if (before) for (const row of await timeSince(tx, before, one, now)) await addAvailability(tx, row);
      const lostSince = one.lost === 0 ? null : (before?.lost_since ?? now);
      await saveCheck(tx, { ...one, lost_since: lostSince, checked_at: now });
    }
    await deleteOtherChecks(
      tx,
      measurements.map(({ component }) => component),
    );
  });
}

async function measure(service: Deps): Promise<Measurement[]> {
  const { db, clock } = service;
  const now = clock.now().getTime();
  const isOff = new Map((await readSwitches(service)).map(({ name, on }) => [name, !on]));
  const coins = (await readCoins(service)).filter(({ taken }) => taken);
  const lateCoins = coins.filter(({ late, unpriced }) => late || unpriced).length;
  const webhooksLate = await hasLateWebhooks(db, new Date(now - WEBHOOKS_LATE_MS));
  return [
    part('panel', 0),
    part('deploys', isOff.get('deploys') ? 1 : 0),
    ...(coins.length === 0 ? [] : [part('payments', lateCoins / coins.length)]),
    part('webhooks', webhooksLate || isOff.get('webhooks') ? 1 : 0),
    ...(await measureRegions(db, new Date(now - DEPLOYS_MS))),
  ];
}

function part(component: ServiceComponent, lost: number): Measurement {
  const none = { hosts: null, hosts_up: null, free_share: null, deploys: null, deploy_median_s: null };
  return { component, lost, ...none };
}

async function measureRegions(db: Sql, deploysSince: Date): Promise<Measurement[]> {
  const times = new Map((await listDeployTimes(db, deploysSince)).map((row) => [row.region_id, row]));
  return (await listRegionHealth(db, { awayS: HOST_AWAY_S })).map(
    ({ region_id, hosts, hosts_up, free_share }) => ({
      component: regionComponent(region_id),
      lost: (hosts - hosts_up) / hosts,
      hosts,
      hosts_up,
      free_share,
      deploys: times.get(region_id)?.deploys ?? 0,
      deploy_median_s: times.get(region_id)?.median_s ?? null,
    }),
  );
}

/** Returns the time since the last measurement as parts of days. The last measurement stands for it. */
async function timeSince(
  tx: Sql,
  before: CheckRow,
  { component }: Measurement,
  now: Date,
): Promise<AvailabilityRow[]> {
  const passedS = Math.max(0, (now.getTime() - before.checked_at.getTime()) / SECOND_MS);
  const gapS =
    component === 'panel' && before.real_age_s > STANDS_S ? Math.min(before.real_age_s, passedS) : 0;
  const seconds = gapS > 0 ? gapS : Math.min(passedS, STANDS_S);
  const lost = gapS > 0 ? 1 : before.lost;
  const start = new Date(now.getTime() - seconds * SECOND_MS);
  const isPlanned = lost > 0 && (await isInMaintenance(tx, component, start, now));
  return splitByDay(start, now).map(({ day, seconds: each }) => ({
    component,
    day,
    measured_s: isPlanned ? each * (1 - lost) : each,
    lost_s: isPlanned ? 0 : each * lost,
    maintenance_s: isPlanned ? each * lost : 0,
  }));
}

async function isInMaintenance(tx: Sql, component: string, start: Date, end: Date): Promise<boolean> {
  const recent = await listIncidents(tx, { before: null, limit: MAINTENANCE_READ });
  return recent.some(({ starts_at, ends_at, resolved_at, components }) => {
    if (ends_at === null || starts_at >= end) return false;
    const until = resolved_at !== null && resolved_at < ends_at ? resolved_at : ends_at;
    return until > start && (components.length === 0 || components.includes(component));
  });
}

function splitByDay(start: Date, end: Date): { readonly day: Date; readonly seconds: number }[] {
  const parts = [];
  for (let at = start.getTime(); at < end.getTime(); ) {
    const day = at - (at % DAY_MS);
    const until = Math.min(day + DAY_MS, end.getTime());
    parts.push({ day: new Date(day), seconds: (until - at) / SECOND_MS });
    at = until;
  }
  return parts;
}

/** How available something was, from 0 to 1; null: it was not measured. */
export type Share = number | null;

export interface ComponentStatus extends Omit<Measurement, 'lost'> {
  /** How much is unavailable now; null: the last measurement is too old. */
  readonly lost: number | null;
  readonly lost_since: Date | null;
  /** Over all days, and for each, oldest first; today is the last. */
  readonly available: Share;
  readonly days: readonly Share[];
}

/** Returns each measured component with its days; without `withDays`, only the latest measurement. */
export async function readAvailability(
  { db, clock }: Pick<Service, 'db' | 'clock'>,
  { withDays = true } = {},
): Promise<ComponentStatus[]> {
  const now = clock.now().getTime();
  const today = now - (now % DAY_MS);
  const first = today - (LIMITS.availabilityDays - 1) * DAY_MS;
  const rows = withDays ? await listAvailability(db, new Date(first)) : [];
  const checks = await listChecks(db);
  const byComponent = Map.groupBy(rows, ({ component }) => component);
  const [panel, others] = [checks.filter(isPanel), checks.filter((one) => !isPanel(one))];
  return [...panel, ...others].map(({ checked_at, real_age_s: _age, ...check }) => {
    const own = byComponent.get(check.component) ?? [];
    const byDay = new Map(own.map((row) => [row.day.getTime(), row]));
    const days = Array.from({ length: LIMITS.availabilityDays }, (_, index) => {
      const row = byDay.get(first + index * DAY_MS);
      return row ? shareOf([row]) : null;
    });
    const isStale = now - checked_at.getTime() > STALE_MS;
    return { ...check, lost: isStale ? null : check.lost, available: shareOf(own), days };
  });
}

function isPanel({ component }: CheckRow): boolean {
  return component === ('panel' satisfies ServiceComponent);
}

function shareOf(rows: readonly AvailabilityRow[]): Share {
  const measured = rows.reduce((sum, row) => sum + row.measured_s, 0);
  const lost = rows.reduce((sum, row) => sum + row.lost_s, 0);
  return measured === 0 ? null : Math.max(0, 1 - lost / measured);
}

export const AVAILABILITY_KEEP_MS = (LIMITS.availabilityDays + 1) * DAY_MS + HOUR_MS;

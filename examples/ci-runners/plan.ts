/**
 * Computes the steps from the state of the fleet. It makes no calls, so you can test changes without spending
 * money.
 *
 * A cycle is paid in advance, and deleting a server that ran is not refunded. Runners are therefore never
 * deleted within a cycle. Automatic renewal is off. In the last hours of a cycle, a runner is either renewed
 * or retired: a retired runner accepts no jobs, is suspended at the end of its cycle, and is deleted then. If
 * this program stops, only runners that it already decided to renew are renewed.
 */
import type { Server } from '@skerry/sdk';
import type { RunnerDemand } from './demand.ts';

export interface Fleet {
  readonly servers: readonly Server[];
  readonly nowMs: number;
  readonly balanceUsd: number;
  /** Current price of a new runner, per cycle. */
  readonly priceUsd: number;
  /** Whether the plan is available in the region. */
  readonly available: boolean;
}

export interface Limits {
  /** Prefix of names: `<fleet>-1`, `<fleet>-2`, … */
  readonly fleet: string;
  readonly min: number;
  readonly max: number;
  /** Maximum cost of all runners per cycle. */
  readonly budgetUsd: number;
  /** Amount to keep on the balance for your other servers. */
  readonly reserveUsd: number;
  /** Time before the end of a cycle at which renewal is decided. Must exceed your longest job. */
  readonly decideMs: number;
}

export type Step =
  | { readonly action: 'create'; readonly name: string }
  | { readonly action: 'start' | 'renew' | 'not renew' | 'retire' | 'destroy'; readonly server: Server };

/** Label of a server that accepts no more jobs. */
export const RETIRED = 'retired';

export function planSteps(fleet: Fleet, wanted: RunnerDemand, limits: Limits): Step[] {
  const { due, notDue, stopped, ended, retiring } = classify(fleet, limits);
  const clamp = (runners: number) => Math.min(Math.max(runners, limits.min), limits.max);
  const remainingCents = {
    balance: cents(fleet.balanceUsd) - cents(limits.reserveUsd),
    // Sum the actual prices: each runner keeps its own, even if new ones cost more.
    budget: cents(limits.budgetUsd) - sumCents(notDue),
  };
  const spend = (priceCents: number): boolean => {
    if (priceCents > remainingCents.balance || priceCents > remainingCents.budget) return false;
    remainingCents.balance -= priceCents;
    remainingCents.budget -= priceCents;
    return true;
  };

  const renewed: Server[] = [];
  for (const server of due) {
    const needed = notDue.length + renewed.length < clamp(wanted.peak);
    if (needed && spend(cents(server.price_usd_cycle))) renewed.push(server);
  }
  // A runner that is not renewed uses its share of the budget until its cycle ends.
  remainingCents.budget -= sumCents(retiring) + sumCents(due) - sumCents(renewed);
  const missing = fleet.available ? clamp(wanted.sustained) - notDue.length - renewed.length : 0;
  let bought = 0;
  while (bought < missing && spend(cents(fleet.priceUsd))) bought += 1;
  const retired = due.filter((server) => !renewed.includes(server));
  return [
    ...stepsFor('destroy', ended),
    ...stepsFor('retire', retired),
    ...stepsFor('not renew', notDue.filter(isRenewing)),
    ...stepsFor(
      'renew',
      renewed.filter((server) => !isRenewing(server)),
    ),
    ...stepsFor(
      'start',
      stopped.filter((server) => !retired.includes(server)),
    ),
    ...unusedNames(fleet.servers, limits.fleet, bought).map((name): Step => ({ action: 'create', name })),
  ];
}

function classify({ servers, nowMs }: Fleet, { decideMs }: Limits) {
  // Ignore servers that the operator suspended, and servers that are being deleted.
  const managed = servers.filter((s) => s.status !== 'destroying' && s.suspended_reason !== 'operator');
  const [ended, paid] = partition(managed, (server) => server.status === 'suspended');
  const [active, retiring] = partition(paid, (server) => server.labels[RETIRED] === undefined);
  const [due, notDue] = partition(active, (server) => Date.parse(server.paid_until) - nowMs <= decideMs);
  // Prefer runners that already renew, so that decisions are stable between passes.
  due.sort((a, b) => Number(isRenewing(b)) - Number(isRenewing(a)) || a.name.localeCompare(b.name));
  const stopped = active.filter((server) => server.status === 'stopped');
  return { ended, due, notDue, stopped, retiring };
}

function isRenewing(server: Server): boolean {
  return server.auto_renew;
}

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

function stepsFor(action: Exclude<Step['action'], 'create'>, servers: readonly Server[]): Step[] {
  return servers.map((server) => ({ action, server }));
}

/** Returns the lowest unused names: the same ones again if the previous pass was killed. */
function unusedNames(servers: readonly Server[], fleet: string, count: number): string[] {
  const taken = new Set(servers.map((server) => server.name));
  const names: string[] = [];
  for (let n = 1; names.length < count; n++) {
    if (!taken.has(`${fleet}-${n}`)) names.push(`${fleet}-${n}`);
  }
  return names;
}

function sumCents(servers: readonly Server[]): number {
  return servers.reduce((sum, server) => sum + cents(server.price_usd_cycle), 0);
}

function cents(usd: number): number {
  return Math.round(usd * 100);
}

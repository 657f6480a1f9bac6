/**
 * What is to be done, from what there is. Nothing is called here, so it can be tested and tried out without money.
 *
 * A cycle is paid in advance and nothing comes back when a server that ran is destroyed. So no runner is destroyed before its
 * cycle ends: until then it costs nothing more. Automatic renewal is off; in the last hours of a cycle it is decided whether
 * the runner is needed for another one. If so, renewal is switched on; if not, the runner takes no more jobs ("retired"), is
 * suspended when the cycle ends, and only then destroyed. If this program dies, nothing renews that nobody decided on.
 */
import type { Server } from '@skerry/sdk';
import type { RunnerDemand } from './demand.ts';

export interface Fleet {
  readonly servers: readonly Server[];
  readonly nowMs: number;
  readonly balanceUsd: number;
  /** What a new runner costs now, for its cycle. */
  readonly priceUsd: number;
  /** Whether the plan can be had in the region. */
  readonly available: boolean;
}

export interface Limits {
  /** New ones are called `<fleet>-1`, `<fleet>-2`, … */
  readonly fleet: string;
  readonly min: number;
  readonly max: number;
  /** What all runners together may cost in one cycle. */
  readonly budgetUsd: number;
  /** What is to stay on the balance, for your other servers. */
  readonly reserveUsd: number;
  /** So long before the end of a cycle it is decided; longer than your longest job. */
  readonly decideMs: number;
}

export type Step =
  | { readonly action: 'create'; readonly name: string }
  | { readonly action: 'start' | 'renew' | 'not renew' | 'retire' | 'destroy'; readonly server: Server };

/** On a server that has been told to take no more jobs. */
export const RETIRED = 'retired';

export function planSteps(fleet: Fleet, wanted: RunnerDemand, limits: Limits): Step[] {
  const { due, young: notDue, stopped, ended, retiring } = classify(fleet, limits);
  const clamp = (runners: number) => Math.min(Math.max(runners, limits.min), limits.max);
  const remainingCents = {
    balance: cents(fleet.balanceUsd) - cents(limits.reserveUsd),
    // A sum, not a number of runners: each keeps its price, whatever a new one costs.
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
  // Who is not renewed is paid until its cycle ends: its part of the budget is free only then.
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
  // What the host's operator has suspended is his; what is being destroyed is gone.
  const managed = servers.filter((s) => s.status !== 'destroying' && s.suspended_reason !== 'operator');
  const [ended, paid] = partition(managed, (server) => server.status === 'suspended');
  const [active, retiring] = partition(paid, (server) => server.labels[RETIRED] === undefined);
  const [due, notDue] = partition(active, (server) => Date.parse(server.paid_until) - nowMs <= decideMs);
  // Who is to be renewed stays so, as long as the number does not change: nothing goes to and fro.
  due.sort((a, b) => Number(isRenewing(b)) - Number(isRenewing(a)) || a.name.localeCompare(b.name));
  const stopped = active.filter((server) => server.status === 'stopped');
  return { ended, due, young: notDue, stopped, retiring };
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

/** The lowest that nobody has: the same ones again when the pass before was killed. */
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

/**
 * Carries a plan out, phase by phase; within a phase several at once, but for rebuilds, which are done one after the other. An item whose
 * act failed goes no further, what needs its server does not either. Once anything has failed, or while a server that was made does
 * not run, nothing is destroyed.
 */
import { PROJECT_LABEL } from '../file/fields.ts';
import { type Item, type Kind, PHASES, type Plan } from '../plan/plan.ts';
import { itemText } from '../plan/show.ts';
import { carryOut, type Deed, isWait } from './act.ts';
import { Filters } from './filters.ts';
import { Ids } from './ids.ts';
import { barOf, type Progress } from './progress.ts';
import { failure, type Result, type Run, type State } from './state.ts';
import { NotYet, Stops } from './stops.ts';
import { waitAll } from './wait-all.ts';

/** Ordering has a rate of its own; the other calls are let through one by one by the SDK once the rate is used up. */
const AT_ONCE = 5;

/** `unready`: id by name of the file's servers that are there and are still being installed. */
export async function runPlan(
  plan: Plan,
  unready: ReadonlyMap<string, string>,
  run: Run,
): Promise<readonly Result[]> {
  const progress = begin(plan, unready, run);
  const { states } = progress;
  for (const phase of PHASES) {
    await abreast(states, async (state, at) => {
      for (const act of state.item.acts) {
        if (phase.includes(act.do) && act.do !== 'rebuild_server' && !isWait(act)) {
          await step(act, at, progress);
        }
      }
    });
    if (phase.includes('settle_server')) await waitAll(progress, 'settle_server', () => true);
    if (phase.includes('wait_server')) {
      await waitAll(progress, 'wait_server', (item) => !isRebuilt(item));
      await rebuildEach(progress);
    }
  }
  return states.map(({ status, ...state }) => ({
    ...state,
    status: status === 'open' ? ('done' as const) : status,
    id: idAfter(state.item, progress.hands.ids),
  }));
}

function begin(plan: Plan, unready: ReadonlyMap<string, string>, run: Run): Progress {
  const ids = new Ids(plan.ids);
  const own = run.actual.servers.filter(({ labels }) => labels[PROJECT_LABEL] === plan.project);
  const filters = new Filters(run.skerry, run.signal, ids, new Set(own.map(({ id }) => id)));
  const { skerry, signal, actual, nonce } = run;
  const deadlineMs = Date.now() + run.timeoutMs;
  const waited = new Set(
    plan.items.flatMap(({ acts }) => acts.flatMap((act) => (isWait(act) ? [act.server] : []))),
  );
  const waits = [...unready].filter(([name]) => !waited.has(name)).map(([name, id]) => waitItem(name, id));
  return {
    run,
    hands: {
      ...{ skerry, ids, filters, signal, project: plan.project, actual, nonce },
      stops: new Stops(run, deadlineMs),
    },
    states: [...plan.items, ...waits].map((item) => ({
      ...{ item, status: 'open', message: null, timedOut: false, error: null },
    })),
    notRunning: new Set(unready.keys()),
    deadlineMs,
  };
}

/** Of one that a former run has ordered or rebuilt: it is not as the file says before it runs. */
function waitItem(name: string, id: string): Item {
  const reasons = ['it is still being installed'];
  const acts = [{ do: 'wait_server', server: name }] as const;
  return { sign: 'wait', kind: 'server', name, id, reasons, loses: null, acts };
}

async function step(act: Deed, at: number, progress: Progress): Promise<void> {
  const { states, hands, run } = progress;
  const state = states[at];
  if (state?.status !== 'open') return;
  const bar = barOf(act, state, progress);
  if (bar) {
    states[at] = { ...state, ...bar };
    return;
  }
  run.terminal.progress(`${itemText(state.item)} …`);
  // Also when the answer is lost: it may have been done.
  if (act.do === 'create_server' || act.do === 'rebuild_server') progress.notRunning.add(act.server.name);
  try {
    await carryOut(act, hands);
    if (act.do === 'create_server') await filter(act.server.name, progress);
  } catch (error) {
    const after: Partial<State> = run.signal.aborted
      ? { status: 'left', message: 'interrupted; it may have been done' }
      : error instanceof NotYet
        ? { status: 'left', message: error.message }
        : failure(error);
    states[at] = { ...state, ...after };
  } finally {
    run.terminal.progress('');
  }
}

/** As soon as it is made: others may be long in coming, and this one must not run without its filter. */
async function filter(server: string, { states, hands }: Progress): Promise<void> {
  for (const [at, state] of states.entries()) {
    for (const act of state.item.acts) {
      if (act.do !== 'apply_group' || !act.servers.includes(server) || state.status !== 'open') continue;
      try {
        await hands.filters.add(act);
      } catch (error) {
        if (hands.signal.aborted) throw error;
        states[at] = { ...state, ...failure(error) };
      }
    }
  }
}

/** One image that does not come up must not take all servers with it. */
async function rebuildEach(progress: Progress): Promise<void> {
  for (const [at, { item }] of progress.states.entries()) {
    for (const act of item.acts) {
      if (act.do !== 'rebuild_server') continue;
      await step(act, at, progress);
      await waitAll(progress, 'wait_server', (one) => one === item);
    }
  }
}

function isRebuilt({ acts }: Item): boolean {
  return acts.some((act) => act.do === 'rebuild_server');
}

/** Several at once, in order of the list; the list may be written to meanwhile. */
async function abreast(
  states: readonly State[],
  work: (state: State, at: number) => Promise<void>,
): Promise<void> {
  const rest = [...states.entries()];
  const worker = async () => {
    for (let next = rest.shift(); next; next = rest.shift()) await work(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function idAfter({ kind, name, id, sign }: Item, ids: Ids): string | null {
  if (sign === 'destroy') return id;
  return ids.find(kind satisfies Kind, name) ?? id;
}

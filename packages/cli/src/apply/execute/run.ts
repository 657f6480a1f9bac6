/**
 * Carries a plan out, phase by phase; within a phase several at once, but for rebuilds, which are done one after the other. An item whose
 * act failed goes no further, what needs its server does not either. Once anything has failed, or while a server that was made does
 * not run, nothing is destroyed.
 */
import { PROJECT_LABEL } from '../file/fields.ts';
import { formatItem } from '../plan/format-plan.ts';
import { type Kind, PHASES, type Plan, type PlanItem } from '../plan/plan.ts';
import { type ExecutableAction, executeAction, isWaitAction } from './execute-action.ts';
import { FirewallMembers } from './firewall-members.ts';
import { ResourceIds } from './ids.ts';
import { findBlock, type RunProgress } from './progress.ts';
import { ServerStopper, StillPendingError } from './server-stopper.ts';
import { failedState, type ItemResult, type ItemState, type RunContext } from './state.ts';
import { waitForItems } from './wait-for-items.ts';

/** Ordering has a rate of its own; the other calls are let through one by one by the SDK once the rate is used up. */
const CONCURRENCY = 5;

/** `unready`: id by name of the file's servers that are there and are still being installed. */
export async function runPlan(
  plan: Plan,
  unready: ReadonlyMap<string, string>,
  run: RunContext,
): Promise<readonly ItemResult[]> {
  const progress = startProgress(plan, unready, run);
  const { states } = progress;
  for (const phase of PHASES) {
    await forEachConcurrent(states, async (state, at) => {
      for (const act of state.item.actions) {
        if (phase.includes(act.do) && act.do !== 'rebuild_server' && !isWaitAction(act)) {
          await runAction(act, at, progress);
        }
      }
    });
    if (phase.includes('settle_server')) await waitForItems(progress, 'settle_server', () => true);
    if (phase.includes('wait_server')) {
      await waitForItems(progress, 'wait_server', (item) => !isRebuilt(item));
      await rebuildSequentially(progress);
    }
  }
  return states.map(({ status, ...state }) => ({
    ...state,
    status: status === 'open' ? ('done' as const) : status,
    id: resultId(state.item, progress.context.ids),
  }));
}

function startProgress(plan: Plan, unready: ReadonlyMap<string, string>, run: RunContext): RunProgress {
  const ids = new ResourceIds(plan.ids);
  const projectServers = run.actual.servers.filter(({ labels }) => labels[PROJECT_LABEL] === plan.project);
  const firewallMembers = new FirewallMembers(
    run.skerry,
    run.signal,
    ids,
    new Set(projectServers.map(({ id }) => id)),
  );
  const { skerry, signal, actual, nonce } = run;
  const deadlineMs = Date.now() + run.timeoutMs;
  const waited = new Set(
    plan.items.flatMap(({ actions }) => actions.flatMap((act) => (isWaitAction(act) ? [act.server] : []))),
  );
  const waits = [...unready].filter(([name]) => !waited.has(name)).map(([name, id]) => waitItem(name, id));
  return {
    run,
    context: {
      ...{ skerry, ids, firewallMembers, signal, project: plan.project, actual, nonce },
      stopper: new ServerStopper(run, deadlineMs),
    },
    states: [...plan.items, ...waits].map((item) => ({
      ...{ item, status: 'open', message: null, timedOut: false, error: null },
    })),
    notRunning: new Set(unready.keys()),
    deadlineMs,
  };
}

/** Of one that a former run has ordered or rebuilt: it is not as the file says before it runs. */
function waitItem(name: string, id: string): PlanItem {
  const reasons = ['it is still being installed'];
  const actions = [{ do: 'wait_server', server: name }] as const;
  return { changeType: 'wait', kind: 'server', name, id, reasons, destroys: null, actions };
}

async function runAction(act: ExecutableAction, at: number, progress: RunProgress): Promise<void> {
  const { states, context, run } = progress;
  const state = states[at];
  if (state?.status !== 'open') return;
  const block = findBlock(act, state, progress);
  if (block) {
    states[at] = { ...state, ...block };
    return;
  }
  run.terminal.progress(`${formatItem(state.item)} …`);
  // Also when the answer is lost: it may have been done.
  if (act.do === 'create_server' || act.do === 'rebuild_server') progress.notRunning.add(act.server.name);
  try {
    await executeAction(act, context);
    if (act.do === 'create_server') await applyFirewalls(act.server.name, progress);
  } catch (error) {
    const after: Partial<ItemState> = run.signal.aborted
      ? { status: 'left', message: 'interrupted; it may have been done' }
      : error instanceof StillPendingError
        ? { status: 'left', message: error.message }
        : failedState(error);
    states[at] = { ...state, ...after };
  } finally {
    run.terminal.progress('');
  }
}

/** As soon as it is made: others may be long in coming, and this one must not run without its filter. */
async function applyFirewalls(server: string, { states, context }: RunProgress): Promise<void> {
  for (const [at, state] of states.entries()) {
    for (const act of state.item.actions) {
      if (act.do !== 'apply_group' || !act.servers.includes(server) || state.status !== 'open') continue;
      try {
        await context.firewallMembers.add(act);
      } catch (error) {
        if (context.signal.aborted) throw error;
        states[at] = { ...state, ...failedState(error) };
      }
    }
  }
}

/** One image that does not come up must not take all servers with it. */
async function rebuildSequentially(progress: RunProgress): Promise<void> {
  for (const [at, { item }] of progress.states.entries()) {
    for (const act of item.actions) {
      if (act.do !== 'rebuild_server') continue;
      await runAction(act, at, progress);
      await waitForItems(progress, 'wait_server', (one) => one === item);
    }
  }
}

function isRebuilt({ actions }: PlanItem): boolean {
  return actions.some((act) => act.do === 'rebuild_server');
}

/** Several at once, in order of the list; the list may be written to meanwhile. */
async function forEachConcurrent(
  states: readonly ItemState[],
  work: (state: ItemState, at: number) => Promise<void>,
): Promise<void> {
  const rest = [...states.entries()];
  const worker = async () => {
    for (let next = rest.shift(); next; next = rest.shift()) await work(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

function resultId({ kind, name, id, changeType }: PlanItem, ids: ResourceIds): string | null {
  if (changeType === 'destroy') return id;
  return ids.find(kind satisfies Kind, name) ?? id;
}

/**
 * Runs a plan phase by phase. Within a phase, items run concurrently, except rebuilds, which run one at a
 * time. An item stops at its first failed action, and so does an item that needs its server. After a failure,
 * or while a new server is not running, nothing is deleted.
 */
import pMap from 'p-map';
import { PROJECT_LABEL } from '../labels.ts';
import { formatItem } from '../plan/format.ts';
import { changeOf, PHASES, type Plan, type PlanItem } from '../plan/plan.ts';
import { type ExecutableAction, executeAction, isWaitAction } from './execute-action.ts';
import { FirewallMembers } from './firewall-members.ts';
import { findBlock, type RunProgress } from './progress.ts';
import { ServerStopper, StillPendingError } from './server-stopper.ts';
import { failedState, type ItemResult, type ItemState, ResourceIds, type RunContext } from './state.ts';
import { waitForItems } from './wait.ts';

/** Server creation has a rate limit of its own; the SDK paces all other calls once their limit is reached. */
const CONCURRENCY = 5;

/** `unready`: IDs by name of the file's servers that exist and are still being installed. */
export async function runPlan(
  plan: Plan,
  unready: ReadonlyMap<string, string>,
  run: RunContext,
): Promise<readonly ItemResult[]> {
  const progress = startProgress(plan, unready, run);
  const { states } = progress;
  for (const phase of PHASES) {
    const runItem = async ({ item }: ItemState, at: number): Promise<void> => {
      for (const act of item.actions) {
        if (phase.includes(act.do) && act.do !== 'rebuild_server' && !isWaitAction(act)) {
          await runAction(act, at, progress);
        }
      }
    };
    await pMap(states, runItem, { concurrency: CONCURRENCY });
    if (phase.includes('settle_server')) await waitForItems(progress, 'settle_server', () => true);
    if (phase.includes('wait_server')) {
      await waitForItems(progress, 'wait_server', (item) =>
        item.actions.every((act) => act.do !== 'rebuild_server'),
      );
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
  const { project } = plan;
  const own = run.actual.servers.filter(({ labels }) => labels[PROJECT_LABEL] === project);
  const firewallMembers = new FirewallMembers(run, ids, new Set(own.map(({ id }) => id)));
  const deadlineMs = Date.now() + run.timeoutMs;
  const waited = new Set(
    plan.items.flatMap(({ actions }) => actions.flatMap((act) => (isWaitAction(act) ? [act.server] : []))),
  );
  const waits = [...unready].filter(([name]) => !waited.has(name)).map(([name, id]) => waitItem(name, id));
  return {
    run,
    context: { ...run, ids, firewallMembers, project, stopper: new ServerStopper(run, deadlineMs) },
    states: [...plan.items, ...waits].map((item) => ({
      item,
      status: 'open',
      message: null,
      timedOut: false,
      error: null,
    })),
    notRunning: new Set(unready.keys()),
    deadlineMs,
  };
}

/** For a server that an earlier run created or rebuilt: it matches the file only once it is running. */
function waitItem(name: string, id: string): PlanItem {
  const reasons = ['it is still being installed'];
  const actions = [{ do: 'wait_server', server: name } as const];
  return changeOf('server', name, { changeType: 'wait', id, reasons, actions });
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
  // Even if the response was lost: the request may have been carried out.
  if (act.do === 'create_server' || act.do === 'rebuild_server') progress.notRunning.add(act.server.name);
  try {
    await executeAction(act, context);
    if (act.do === 'create_server') await applyFirewalls(act.server.name, progress);
  } catch (error) {
    const after: Partial<ItemState> = run.signal.aborted
      ? { status: 'left', message: 'interrupted; it may have been carried out' }
      : error instanceof StillPendingError
        ? { status: 'left', message: error.message }
        : failedState(error);
    states[at] = { ...state, ...after };
  } finally {
    run.terminal.progress('');
  }
}

/** Right after creation: the server must not wait without a firewall while others are being created. */
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

/** One at a time: an image that does not boot must not take down all servers. */
async function rebuildSequentially(progress: RunProgress): Promise<void> {
  for (const [at, { item }] of progress.states.entries()) {
    for (const act of item.actions) {
      if (act.do !== 'rebuild_server') continue;
      await runAction(act, at, progress);
      await waitForItems(progress, 'wait_server', (one) => one === item);
    }
  }
}

function resultId({ kind, name, id, changeType }: PlanItem, ids: ResourceIds): string | null {
  if (changeType === 'destroy') return id;
  return ids.find(kind, name) ?? id;
}

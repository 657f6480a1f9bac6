/** The phases that only wait, and what their outcome means for the items. */
import type { Server } from '@skerry/sdk';
import { rebuildFailure, resolvePendingDigest, updateLabels, userDataDigest, withDigest } from '../labels.ts';
import type { PlanItem } from '../plan/plan.ts';
import type { RunProgress } from './progress.ts';
import { failedState, formatErrorMessage, type ItemState, type RunContext } from './state.ts';
import { type WaitOutcome, waitForServers } from './wait-for-servers.ts';

type WaitKind = 'settle_server' | 'wait_server';

/** Waits for the servers of all selected items and records the outcome of each. */
export async function waitForItems(
  progress: RunProgress,
  wait: WaitKind,
  isSelected: (item: PlanItem) => boolean,
): Promise<void> {
  const { states, run, notRunning } = progress;
  const { ids } = progress.context;
  const nameOf = ({ item, status }: ItemState): string | undefined => {
    if (status !== 'open' || !isSelected(item)) return undefined;
    return item.actions.flatMap((act) => (act.do === wait ? [act.server] : []))[0];
  };
  const waiting = new Map<string, string>();
  for (const state of states) {
    const name = nameOf(state);
    const id = name === undefined ? undefined : ids.find('server', name);
    if (name !== undefined && id !== undefined) waiting.set(name, id);
  }
  if (waiting.size === 0) return;
  // With --no-wait, poll only once.
  const deadlineMs = run.noWait ? 0 : progress.deadlineMs;
  let waited: ReadonlyMap<string, WaitOutcome>;
  let fallback: Partial<ItemState> = {};
  try {
    waited = await waitForServers(waiting, { ...run, deadlineMs });
  } catch (error) {
    waited = new Map();
    fallback = run.signal.aborted
      ? { status: 'left', message: 'interrupted; operations that have started continue' }
      : failedState(error);
  }
  for (const [at, state] of states.entries()) {
    const name = nameOf(state);
    if (name === undefined) continue;
    const came = waited.get(name);
    if (came?.came === 'running') notRunning.delete(name);
    const after = came ? stateAfterWait(came, state.item, run) : fallback;
    const isOver = wait === 'wait_server' && came?.came === 'running';
    const rebuilt = isOver ? await finishRebuild(state.item, came.server, run) : {};
    states[at] = { ...state, ...after, ...rebuilt };
  }
}

function stateAfterWait(waited: WaitOutcome, item: PlanItem, run: RunContext): Partial<ItemState> {
  if (waited.came === 'running') return {};
  if (waited.came === 'failed') return { status: 'failed', message: waited.message };
  if (!run.noWait) return { status: 'failed', message: waited.message, timedOut: true };
  // A server that is being installed needs nothing more from this run, unless another action follows.
  const isLast = item.changeType !== 'wait' && item.actions.at(-1)?.do === 'wait_server';
  if (isLast) return {};
  return { status: 'left', message: 'not running yet; run the command again to continue' };
}

/** A server with a failed rebuild runs too, with its old disk: only now its label can show what is on it. */
async function finishRebuild(
  { actions }: PlanItem,
  server: Server,
  run: RunContext,
): Promise<Partial<ItemState>> {
  const act = actions.find((one) => one.do === 'rebuild_server');
  const pending = act
    ? { before: userDataDigest(act.labelsBefore), after: userDataDigest(act.labels) }
    : run.actual.pending.get(server.id);
  if (!pending) return {};
  try {
    const digest = await resolvePendingDigest(run.skerry, server, pending);
    if (digest !== undefined) await updateLabels(run, server.id, (now) => withDigest(now, digest));
    const why = await rebuildFailure(run.skerry, server);
    return why === null ? {} : { status: 'failed', message: why };
  } catch (error) {
    const message = `could not determine whether it was rebuilt: ${formatErrorMessage(error)}`;
    return { ...failedState(error), message };
  }
}

/** The phases in which nothing is done but waiting. */
import type { Server } from '@skerry/sdk';
import type { PlanItem } from '../plan/plan.ts';
import { rebuildFailure, resolvePendingDigest, updateLabels, userDataDigest, withDigest } from './labels.ts';
import type { RunProgress } from './progress.ts';
import { failedState, formatErrorMessage, type ItemState, type RunContext } from './state.ts';
import { type WaitOutcome, waitForServers } from './wait-for-servers.ts';

export type WaitKind = 'settle_server' | 'wait_server';

/** Waits for all of `chosen` that are to be waited for, and writes down what became of each. */
export async function waitForItems(
  progress: RunProgress,
  wait: WaitKind,
  isSelected: (item: PlanItem) => boolean,
): Promise<void> {
  const { states, run, notRunning } = progress;
  const { ids } = progress.context;
  const nameOf = ({ item, status }: ItemState) =>
    status === 'open' && isSelected(item) ? awaitedServer(item, wait) : undefined;
  const waiting = new Map<string, string>();
  for (const state of states) {
    const name = nameOf(state);
    const id = name === undefined ? undefined : ids.find('server', name);
    if (name !== undefined && id !== undefined) waiting.set(name, id);
  }
  if (waiting.size === 0) return;
  // One look, where nobody waits.
  const deadlineMs = run.noWait ? 0 : progress.deadlineMs;
  let waited: ReadonlyMap<string, WaitOutcome>;
  let fallback: Partial<ItemState> = {};
  try {
    waited = await waitForServers(waiting, { ...run, deadlineMs });
  } catch (error) {
    waited = new Map();
    fallback = run.signal.aborted
      ? { status: 'left', message: 'interrupted; what was begun goes on by itself' }
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

function awaitedServer({ actions }: PlanItem, wait: WaitKind): string | undefined {
  return actions.flatMap((act) => (act.do === wait ? [act.server] : []))[0];
}

function stateAfterWait(waited: WaitOutcome, item: PlanItem, run: RunContext): Partial<ItemState> {
  if (waited.came === 'running') return {};
  if (waited.came === 'failed') return { status: 'failed', message: waited.message };
  if (!run.noWait) return { status: 'failed', message: waited.message, timedOut: true };
  // What is being installed needs nothing more from here, unless something comes after it.
  const isLast = item.changeType !== 'wait' && item.actions.at(-1)?.do === 'wait_server';
  return isLast ? {} : { status: 'left', message: 'it does not run yet: the next run does the rest' };
}

/** One whose rebuild was given up runs, too, with its former disk: only now its label says what is on it. */
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
    return {
      ...failedState(error),
      message: `whether it was rebuilt is not known: ${formatErrorMessage(error)}`,
    };
  }
}

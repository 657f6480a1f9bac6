/** The phases in which nothing is done but waiting. */
import type { Server } from '@skerry/sdk';
import type { Item } from '../plan/plan.ts';
import { digestOf, givenUp, settledDigest, withDigest, writeLabels } from './labels.ts';
import type { Progress } from './progress.ts';
import { failure, messageOf, type Run, type State } from './state.ts';
import { type Waited, waitForServers } from './wait.ts';

export type Wait = 'settle_server' | 'wait_server';

/** Waits for all of `chosen` that are to be waited for, and writes down what became of each. */
export async function waitAll(
  progress: Progress,
  wait: Wait,
  chosen: (item: Item) => boolean,
): Promise<void> {
  const { states, run, notRunning } = progress;
  const { ids } = progress.hands;
  const nameOf = ({ item, status }: State) =>
    status === 'open' && chosen(item) ? waitsFor(item, wait) : undefined;
  const waiting = new Map<string, string>();
  for (const state of states) {
    const name = nameOf(state);
    const id = name === undefined ? undefined : ids.find('server', name);
    if (name !== undefined && id !== undefined) waiting.set(name, id);
  }
  if (waiting.size === 0) return;
  // One look, where nobody waits.
  const deadlineMs = run.noWait ? 0 : progress.deadlineMs;
  let waited: ReadonlyMap<string, Waited>;
  let broken: Partial<State> = {};
  try {
    waited = await waitForServers(waiting, { ...run, deadlineMs });
  } catch (error) {
    waited = new Map();
    broken = run.signal.aborted
      ? { status: 'left', message: 'interrupted; what was begun goes on by itself' }
      : failure(error);
  }
  for (const [at, state] of states.entries()) {
    const name = nameOf(state);
    if (name === undefined) continue;
    const came = waited.get(name);
    if (came?.came === 'running') notRunning.delete(name);
    const after = came ? afterWait(came, state.item, run) : broken;
    const isOver = wait === 'wait_server' && came?.came === 'running';
    const rebuilt = isOver ? await afterRebuild(state.item, came.server, run) : {};
    states[at] = { ...state, ...after, ...rebuilt };
  }
}

function waitsFor({ acts }: Item, wait: Wait): string | undefined {
  return acts.flatMap((act) => (act.do === wait ? [act.server] : []))[0];
}

function afterWait(waited: Waited, item: Item, run: Run): Partial<State> {
  if (waited.came === 'running') return {};
  if (waited.came === 'failed') return { status: 'failed', message: waited.message };
  if (!run.noWait) return { status: 'failed', message: waited.message, timedOut: true };
  // What is being installed needs nothing more from here, unless something comes after it.
  const isLast = item.sign !== 'wait' && item.acts.at(-1)?.do === 'wait_server';
  return isLast ? {} : { status: 'left', message: 'it does not run yet: the next run does the rest' };
}

/** One whose rebuild was given up runs, too, with its former disk: only now its label says what is on it. */
async function afterRebuild({ acts }: Item, server: Server, run: Run): Promise<Partial<State>> {
  const act = acts.find((one) => one.do === 'rebuild_server');
  const pending = act
    ? { before: digestOf(act.labelsBefore), after: digestOf(act.labels) }
    : run.actual.pending.get(server.id);
  if (!pending) return {};
  try {
    const digest = await settledDigest(run.skerry, server, pending);
    if (digest !== undefined) await writeLabels(run, server.id, (now) => withDigest(now, digest));
    const why = await givenUp(run.skerry, server);
    return why === null ? {} : { status: 'failed', message: why };
  } catch (error) {
    return { ...failure(error), message: `whether it was rebuilt is not known: ${messageOf(error)}` };
  }
}

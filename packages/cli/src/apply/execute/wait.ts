/** The phases that only wait. One list call per poll: a call per server would exceed the rate limit. */
import { setTimeout as sleep } from 'node:timers/promises';
import { mayPass, type Server, type Skerry } from '@skerry/sdk';
import { rebuildFailure, resolvePendingDigest, updateLabels, userDataDigest, withDigest } from '../labels.ts';
import type { PlanItem } from '../plan/plan.ts';
import type { RunProgress } from './progress.ts';
import { failedState, formatErrorMessage, type ItemState, type RunContext } from './state.ts';

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

type WaitOutcome =
  | { readonly came: 'running'; readonly server: Server }
  | { readonly came: 'failed' | 'timeout'; readonly message: string };

interface WaitContext extends Pick<RunContext, 'skerry' | 'terminal' | 'signal'> {
  /** In milliseconds, as `Date.now()`. */
  readonly deadlineMs: number;
}

const POLL_MAX_MS = 2_000;
const FIRST_POLL_MS = 500;
const NAMES_MAX = 4;

/** `servers`: IDs by name. Returns the outcome of each. */
async function waitForServers(
  servers: ReadonlyMap<string, string>,
  { skerry, terminal, signal, deadlineMs }: WaitContext,
): Promise<ReadonlyMap<string, WaitOutcome>> {
  const startMs = Date.now();
  const waited = new Map<string, WaitOutcome>();
  try {
    for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(pauseMs * 2, POLL_MAX_MS)) {
      const fault = await poll(servers, waited, skerry, signal);
      const open = [...servers.keys()].filter((name) => !waited.has(name));
      if (open.length === 0) return waited;
      const passedS = Math.round((Date.now() - startMs) / 1_000);
      if (Date.now() + pauseMs > deadlineMs) {
        const why = fault === null ? 'not running' : `the service does not report its status (${fault})`;
        const message = `${why} after ${passedS} s; the operation continues`;
        for (const name of open) waited.set(name, { came: 'timeout', message });
        return waited;
      }
      const names = open.slice(0, NAMES_MAX).join(', ');
      const more = open.length > NAMES_MAX ? ` and ${open.length - NAMES_MAX} more` : '';
      terminal.progress(`waiting for ${names}${more} to run … ${passedS} s`);
      await sleep(pauseMs, undefined, { signal });
    }
  } finally {
    terminal.progress('');
  }
}

/** Returns the reason of a failure that may be temporary; null after a successful poll. */
async function poll(
  servers: ReadonlyMap<string, string>,
  waited: Map<string, WaitOutcome>,
  skerry: Skerry,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const all = await skerry.servers.list({}, { signal }).all();
    const seen = new Map(all.map((server) => [server.id, server]));
    for (const [name, id] of servers) {
      const came = outcomeOf(seen.get(id));
      if (came && !waited.has(name)) waited.set(name, came);
    }
    return null;
  } catch (error) {
    if (signal.aborted || !mayPass(error)) throw error;
    return error.message;
  }
}

/** Undefined: not finished. A stopped server counts as running: someone has stopped it. */
function outcomeOf(server: Server | undefined): WaitOutcome | undefined {
  if (!server) return { came: 'failed', message: 'it was deleted' };
  const { status } = server;
  if (status === 'running' || status === 'stopped') return { came: 'running', server };
  if (status === 'suspended' || status === 'destroying')
    return { came: 'failed', message: `it is ${status}` };
  return undefined;
}

/**
 * Waits until several servers run. Each look is one list call: a call for each server would exceed the rate
 * limit. Between two looks, it waits for the action of one server by the event stream, because the others end
 * about as soon. Where there is no action, as before API 1.7, it looks again after a pause.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { mayPass, type Server, type Skerry, WaitTimeoutError } from '@skerry/sdk';
import type { RunContext } from './state.ts';

export type WaitOutcome =
  | { readonly came: 'running'; readonly server: Server }
  | { readonly came: 'failed' | 'timeout'; readonly message: string };

interface WaitContext extends Pick<RunContext, 'skerry' | 'terminal' | 'signal'> {
  /** In milliseconds, as `Date.now()`. */
  readonly deadlineMs: number;
}

const SECOND_MS = 1_000;
const FIRST_PAUSE_MS = 500;
const PAUSE_MAX_MS = 2_000;
const NAMES_MAX = 4;

/** `servers`: IDs by name. Returns the outcome of each. */
export async function waitForServers(
  servers: ReadonlyMap<string, string>,
  context: WaitContext,
): Promise<ReadonlyMap<string, WaitOutcome>> {
  const { skerry, terminal, signal, deadlineMs } = context;
  const startMs = Date.now();
  const passedS = () => Math.round((Date.now() - startMs) / SECOND_MS);
  const waited = new Map<string, WaitOutcome>();
  const actions = new Actions(skerry, signal);
  const namesOpen = () => [...servers.keys()].filter((name) => !waited.has(name));
  const showProgress = () => {
    const open = namesOpen();
    const more = open.length > NAMES_MAX ? ` and ${open.length - NAMES_MAX} more` : '';
    terminal.progress(`waiting for ${open.slice(0, NAMES_MAX).join(', ')}${more} to run … ${passedS()} s`);
  };
  const timer = setInterval(showProgress, SECOND_MS);
  try {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS)) {
      const fault = await look(servers, waited, actions, context);
      const open = namesOpen();
      if (open.length === 0) return waited;
      if (Date.now() + pauseMs > deadlineMs) {
        const why = fault === null ? 'not running' : `the service does not report its status (${fault})`;
        const message = `${why} after ${passedS()} s; the operation continues`;
        for (const name of open) waited.set(name, { came: 'timeout', message });
        return waited;
      }
      showProgress();
      const ids = open.flatMap((name) => servers.get(name) ?? []);
      if (!(await actions.waitForOne(ids, deadlineMs))) await sleep(pauseMs, undefined, { signal });
    }
  } finally {
    clearInterval(timer);
    terminal.progress('');
  }
}

/** Returns the reason of a failure that may be temporary; null after a successful look. */
async function look(
  servers: ReadonlyMap<string, string>,
  waited: Map<string, WaitOutcome>,
  actions: Actions,
  { skerry, signal }: WaitContext,
): Promise<string | null> {
  try {
    const all = await skerry.servers.list({}, { signal }).all();
    const seen = new Map(all.map((server) => [server.id, server]));
    for (const [name, id] of servers) {
      if (waited.has(name)) continue;
      const server = seen.get(id);
      const came = outcomeOf(server);
      if (came?.came === 'failed') {
        waited.set(name, { ...came, message: (await actions.causeOf(id)) ?? came.message });
      } else if (came) waited.set(name, came);
      else if (server) actions.note(server);
    }
    return null;
  } catch (error) {
    if (signal.aborted || !mayPass(error)) throw error;
    return error.message;
  }
}

/** Undefined: not finished. A stopped server counts as running: it was not started, or someone stopped it. */
function outcomeOf(server: Server | undefined): WaitOutcome | undefined {
  if (!server) return { came: 'failed', message: 'it was deleted' };
  const { status } = server;
  if (status === 'running' || status === 'stopped') return { came: 'running', server };
  if (status === 'suspended' || status === 'destroying')
    return { came: 'failed', message: `it is ${status}` };
  return undefined;
}

/** The actions that the servers showed while they were not running. */
class Actions {
  readonly #skerry: Skerry;
  readonly #signal: AbortSignal;
  /** By server ID. */
  readonly #ids = new Map<string, string>();
  /** IDs of actions that have ended, or that the token cannot read. */
  readonly #ended = new Set<string>();

  constructor(skerry: Skerry, signal: AbortSignal) {
    this.#skerry = skerry;
    this.#signal = signal;
  }

  note({ id, action }: Pick<Server, 'id'> & Partial<Pick<Server, 'action'>>): void {
    if (action) this.#ids.set(id, action.id);
  }

  /** Waits for the action of one of the servers. False: none of them shows one. */
  async waitForOne(servers: readonly string[], deadlineMs: number): Promise<boolean> {
    const action = servers.flatMap((id) => this.#ids.get(id) ?? []).find((id) => !this.#ended.has(id));
    if (action === undefined) return false;
    try {
      const timeoutMs = Math.max(0, deadlineMs - Date.now());
      await this.#skerry.waitForAction(action, { signal: this.#signal, timeoutMs });
    } catch (error) {
      // The next look tells what became of the server.
      if (this.#signal.aborted) throw error;
      if (error instanceof WaitTimeoutError) return true;
    }
    this.#ended.add(action);
    return true;
  }

  /** Returns why the action of a server failed; null if that is not known. */
  async causeOf(server: string): Promise<string | null> {
    const id = this.#ids.get(server);
    if (id === undefined) return null;
    try {
      const { command, error } = await this.#skerry.actions.get(id, { signal: this.#signal });
      return error && `${command} failed (${error.code}). ${error.message}`;
    } catch (error) {
      if (this.#signal.aborted) throw error;
      return null;
    }
  }
}

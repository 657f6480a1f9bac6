/** Waits for many servers with one list call per poll: a call per server would exceed the rate limit. */
import { mayPass, type Server, type Skerry } from '@skerry/sdk';
import type { Terminal } from '../../terminal/terminal.ts';

export type WaitOutcome =
  | { readonly came: 'running'; readonly server: Server }
  | { readonly came: 'failed' | 'timeout'; readonly message: string };

interface WaitContext {
  readonly skerry: Skerry;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** In milliseconds, as `Date.now()`. */
  readonly deadlineMs: number;
}

const POLL_MAX_MS = 2_000;
const FIRST_POLL_MS = 500;
const NAMES_MAX = 4;

/** `servers`: IDs by name. Returns the outcome of each. */
export async function waitForServers(
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
      await sleep(pauseMs, signal);
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

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** Waits for many servers by one list: a look at each of them would use up the rate. */
import { mayPass, type Server, type Skerry } from '@skerry/sdk';
import type { Terminal } from '../../terminal/terminal.ts';

export type Waited =
  | { readonly came: 'running'; readonly server: Server }
  | { readonly came: 'failed' | 'timeout'; readonly message: string };

interface Watch {
  readonly skerry: Skerry;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** As `Date.now()` counts. */
  readonly deadlineMs: number;
}

const LOOK_MS = 2_000;
const FIRST_LOOK_MS = 500;
const NAMES_SHOWN = 4;

/** `servers`: id by name. Gives what became of each. */
export async function waitForServers(
  servers: ReadonlyMap<string, string>,
  { skerry, terminal, signal, deadlineMs }: Watch,
): Promise<ReadonlyMap<string, Waited>> {
  const startMs = Date.now();
  const waited = new Map<string, Waited>();
  try {
    for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(pauseMs * 2, LOOK_MS)) {
      const fault = await look(servers, waited, skerry, signal);
      const open = [...servers.keys()].filter((name) => !waited.has(name));
      if (open.length === 0) return waited;
      const passedS = Math.round((Date.now() - startMs) / 1_000);
      if (Date.now() + pauseMs > deadlineMs) {
        const why = fault === null ? 'it does not run' : `the service does not say how it is (${fault})`;
        const message = `${why} after ${passedS} s; what was ordered is made, and may still come`;
        for (const name of open) waited.set(name, { came: 'timeout', message });
        return waited;
      }
      const names = open.slice(0, NAMES_SHOWN).join(', ');
      const more = open.length > NAMES_SHOWN ? ` and ${open.length - NAMES_SHOWN} more` : '';
      terminal.progress(`waiting until ${names}${more} run … ${passedS} s`);
      await pause(pauseMs, signal);
    }
  } finally {
    terminal.progress('');
  }
}

/** Why nothing was seen, where that may pass; else null. */
async function look(
  servers: ReadonlyMap<string, string>,
  waited: Map<string, Waited>,
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

/** Undefined: not yet. A stopped one is as good as a running one: somebody stopped it. */
function outcomeOf(server: Server | undefined): Waited | undefined {
  if (!server) return { came: 'failed', message: 'it is gone' };
  const { status } = server;
  if (status === 'running' || status === 'stopped') return { came: 'running', server };
  if (status === 'suspended' || status === 'destroying')
    return { came: 'failed', message: `it is ${status}` };
  return undefined;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
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

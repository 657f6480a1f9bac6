/**
 * Programs that a test starts: none is waited for without an end. One that has not ended within its time is killed with all that it
 * has started, and so is what a test leaves behind.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';

const DEADLINE_MS = 60_000;

export interface Ended {
  /** Null: a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Start {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** How long it may take. */
  readonly deadlineMs?: number;
}

export interface Begun {
  readonly child: ChildProcessWithoutNullStreams;
  /** What it has printed so far. */
  readonly said: { readonly stdout: string; readonly stderr: string };
  /** Fails when it was not to be started, or did not end in time. */
  readonly end: Promise<Ended>;
  /** When it has printed this, on either stream. Fails when it ends without, or does not end in time. */
  readonly until: (text: RegExp) => Promise<void>;
  /** Kills it at once, and all that it has started. */
  readonly stop: () => void;
}

const living = new Set<() => void>();
process.once('exit', () => {
  for (const stop of living) stop();
});

export function beginProgram([program = '', ...args]: readonly string[], start: Start): Begun {
  const { env = {}, cwd, deadlineMs = DEADLINE_MS } = start;
  // A group of its own, so that what a shell has started ends with it.
  const child = spawn(program, args, { env, detached: true, ...(cwd ? { cwd } : {}) });
  const said = { stdout: '', stderr: '' };
  const heard = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
      for (const look of heard) look();
    });
  }
  child.stdin.on('error', () => {});
  const stop = () => {
    if (!living.delete(stop)) return;
    if (child.pid !== undefined) kill(child.pid);
    // Whatever has left the group may still hold them.
    for (const stream of [child.stdout, child.stderr]) stream.destroy();
  };
  living.add(stop);
  const words = [program, ...args].map((word) => word.split('/').at(-1)).join(' ');
  const told = () => `it has printed:\n${said.stdout}${said.stderr}`;
  const end = new Promise<Ended>((resolve, reject) => {
    const deadline = setTimeout(() => {
      reject(new Error(`has not ended within ${deadlineMs / 1_000} s: ${words}\n${told()}`));
      stop();
    }, deadlineMs);
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...said }));
    child.once('close', () => {
      clearTimeout(deadline);
      living.delete(stop);
    });
  });
  // Who does not look for its end has failed before.
  end.catch(() => {});
  const until = (text: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (text.test(said.stdout) || text.test(said.stderr)) resolve();
      };
      heard.add(look);
      look();
      const never = (cause?: unknown) =>
        reject(new Error(`never printed ${text}: ${words}\n${told()}`, { cause }));
      end.then(() => never(), never);
    });
  return { child, said, end, until, stop };
}

function kill(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

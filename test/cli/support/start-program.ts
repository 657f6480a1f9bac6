/**
 * Programs that a test starts: none is waited for without an end. One that has not ended within its time is killed with all that it
 * has started, and so is what a test leaves behind.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';

const DEADLINE_MS = 60_000;

export interface ProgramResult {
  /** Null: a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** How long it may take. */
  readonly deadlineMs?: number;
}

export interface StartedProgram {
  readonly child: ChildProcessWithoutNullStreams;
  /** What it has printed so far. */
  readonly printed: { readonly stdout: string; readonly stderr: string };
  /** Fails when it was not to be started, or did not end in time. */
  readonly result: Promise<ProgramResult>;
  /** When it has printed this, on either stream. Fails when it ends without, or does not end in time. */
  readonly waitForOutput: (text: RegExp) => Promise<void>;
  /** Kills it at once, and all that it has started. */
  readonly stop: () => void;
}

const running = new Set<() => void>();
process.once('exit', () => {
  for (const stop of running) stop();
});

export function startProgram(
  [program = '', ...args]: readonly string[],
  start: StartOptions,
): StartedProgram {
  const { env = {}, cwd, deadlineMs = DEADLINE_MS } = start;
  // A group of its own, so that what a shell has started ends with it.
  const child = spawn(program, args, { env, detached: true, ...(cwd ? { cwd } : {}) });
  const printed = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text;
      for (const look of listeners) look();
    });
  }
  child.stdin.on('error', () => {});
  const stop = () => {
    if (!running.delete(stop)) return;
    if (child.pid !== undefined) killGroup(child.pid);
    // Whatever has left the group may still hold them.
    for (const stream of [child.stdout, child.stderr]) stream.destroy();
  };
  running.add(stop);
  const words = [program, ...args].map((word) => word.split('/').at(-1)).join(' ');
  const describeOutput = () => `it has printed:\n${printed.stdout}${printed.stderr}`;
  const result = new Promise<ProgramResult>((resolve, reject) => {
    const deadline = setTimeout(() => {
      reject(new Error(`has not ended within ${deadlineMs / 1_000} s: ${words}\n${describeOutput()}`));
      stop();
    }, deadlineMs);
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...printed }));
    child.once('close', () => {
      clearTimeout(deadline);
      running.delete(stop);
    });
  });
  // Who does not look for its end has failed before.
  result.catch(() => {});
  const waitForOutput = (text: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (text.test(printed.stdout) || text.test(printed.stderr)) resolve();
      };
      listeners.add(look);
      look();
      const never = (cause?: unknown) =>
        reject(new Error(`never printed ${text}: ${words}\n${describeOutput()}`, { cause }));
      result.then(() => never(), never);
    });
  return { child, printed, result, waitForOutput, stop };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

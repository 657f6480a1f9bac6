/**
 * Starts programs with a deadline. A program that does not end in time is killed with all of its child
 * processes, and so is any that a test leaves running.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';

const DEADLINE_MS = 60_000;

export interface ProgramResult {
  /** Null: a signal ended the program. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Maximum run time. */
  readonly deadlineMs?: number;
}

export interface StartedProgram {
  readonly child: ChildProcessWithoutNullStreams;
  /** The output so far. */
  readonly printed: { readonly stdout: string; readonly stderr: string };
  /** Rejects if the program could not be started or did not end in time. */
  readonly result: Promise<ProgramResult>;
  /** Resolves when either stream contains the text. Rejects if the program ends without it or times out. */
  readonly waitForOutput: (text: RegExp) => Promise<void>;
  /** Kills the program and all of its child processes. */
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
  // A separate process group, so that the children of a shell end with it.
  const child = spawn(program, args, { env, detached: true, ...(cwd ? { cwd } : {}) });
  const printed = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text;
      for (const check of listeners) check();
    });
  }
  child.stdin.on('error', () => {});
  const stop = () => {
    if (!running.delete(stop)) return;
    if (child.pid !== undefined) killGroup(child.pid);
    // A process that left the group may still hold these streams.
    for (const stream of [child.stdout, child.stderr]) stream.destroy();
  };
  running.add(stop);
  const words = [program, ...args].map((word) => word.split('/').at(-1)).join(' ');
  const describeOutput = () => `output:\n${printed.stdout}${printed.stderr}`;
  const result = new Promise<ProgramResult>((resolve, reject) => {
    const deadline = setTimeout(() => {
      reject(new Error(`timed out after ${deadlineMs / 1_000} s: ${words}\n${describeOutput()}`));
      stop();
    }, deadlineMs);
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...printed }));
    child.once('close', () => {
      clearTimeout(deadline);
      running.delete(stop);
    });
  });
  // A test that does not wait for the result has already failed for another reason.
  result.catch(() => {});
  const waitForOutput = (text: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const check = () => {
        if (text.test(printed.stdout) || text.test(printed.stderr)) resolve();
      };
      listeners.add(check);
      check();
      const fail = (cause?: unknown) =>
        reject(new Error(`output does not contain ${text}: ${words}\n${describeOutput()}`, { cause }));
      result.then(() => fail(), fail);
    });
  return { child, printed, result, waitForOutput, stop };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has already ended.
  }
}

/** Real processes: `skerryd` as an operator starts it, on a separate data folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const SKERRYD = fileURLToPath(new URL('../../bin/skerryd', import.meta.url));
/** Far above any normal start time, so that a hanging process does not hang the tests. */
const READY_TIMEOUT_MS = 60_000;

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface SkerrydProcess {
  readonly url: string;
  readonly pid: number;
  readonly ended: Promise<ProcessExit>;
  /** Sends the signal and waits for the process to exit. */
  stop(signal?: NodeJS.Signals): Promise<ProcessExit>;
}

export type Environment = Readonly<Record<string, string>>;

const running = new Set<ChildProcess>();

/** Kills processes that a failed test left running; for `after`. */
export function killLeftovers(): void {
  for (const child of running) child.kill('SIGKILL');
}

function launch(
  args: readonly string[],
  env: Environment,
  { stdin = 'ignore', program = SKERRYD }: { stdin?: 'ignore' | 'pipe'; program?: string } = {},
): { child: ChildProcess; ended: Promise<ProcessExit>; output: { stdout: string; stderr: string } } {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !name.startsWith('SKERRY_') && !name.startsWith('NODE_') && name !== 'DATABASE_URL',
    ),
  );
  const child = spawn(program, args, { env: { ...inherited, ...env }, stdio: [stdin, 'pipe', 'pipe'] });
  running.add(child);
  child.once('close', () => running.delete(child));
  const output = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk: Buffer) => {
    output.stdout += chunk.toString('utf8');
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    output.stderr += chunk.toString('utf8');
  });
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...output }) as ProcessExit);
  return { child, ended, output };
}

/** Runs a command until it exits. */
export async function runSkerryd(
  args: readonly string[],
  env: Environment,
  input?: string,
): Promise<ProcessExit> {
  const { child, ended } = launch(args, env, { stdin: input === undefined ? 'ignore' : 'pipe' });
  child.stdin?.end(input);
  return await ended;
}

/** Starts a command, and does not wait for it. */
export function spawnSkerryd(
  args: readonly string[],
  env: Environment,
): Pick<SkerrydProcess, 'ended' | 'stop'> {
  const { child, ended } = launch(args, env);
  return {
    ended,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      return await ended;
    },
  };
}

/** Starts `skerryd serve` on a free port, also that of another version, and waits for its ready line. */
export async function startSkerryd(
  env: Environment,
  args: readonly string[] = [],
  program = SKERRYD,
): Promise<SkerrydProcess> {
  const settings = { SKERRY_PORT: '0', ...env };
  const ready = /^skerry ready on (\S+)$/m;
  const { found, ...started } = await startUntil(['serve', ...args], settings, ready, program);
  return { url: found, ...started };
}

export interface StartedProcess extends Omit<SkerrydProcess, 'url'> {
  /** The first group of the pattern in its output. */
  readonly found: string;
}

/** Starts a command that runs until a signal, and waits for a line on its standard output. */
export async function startUntil(
  args: readonly string[],
  env: Environment,
  ready: RegExp,
  program = SKERRYD,
): Promise<StartedProcess> {
  const { child, ended, output } = launch(args, env, { program });
  const isReady = new Promise<string>((resolve) => {
    child.stdout?.on('data', () => {
      const match = ready.exec(output.stdout);
      if (match?.[1]) resolve(match[1]);
    });
  });
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`not ready after ${READY_TIMEOUT_MS} ms: ${output.stderr}`));
    }, READY_TIMEOUT_MS);
  });
  const earlyExit = ended.then((end) => {
    throw new Error(`exited before it was ready: ${end.code ?? end.signal} ${end.stderr}`);
  });
  earlyExit.catch(() => undefined);
  const found = await Promise.race([isReady, earlyExit, timeout]).finally(() => clearTimeout(timer));
  return {
    found,
    pid: child.pid ?? 0,
    ended,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      return await ended;
    },
  };
}

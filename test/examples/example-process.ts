/** Starts the examples as a user would after copying them: as separate processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Skerry } from '@skerry/sdk';

export const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));
/** Far above any normal run time, so that a hanging example does not hang the tests. */
const OUTPUT_TIMEOUT_MS = 30_000;

type Environment = Readonly<Record<string, string>>;

export interface ExampleProcess {
  readonly output: () => string;
  /** Resolves when the output contains this text. */
  waitForOutput(text: string | RegExp): Promise<void>;
  /** Sends the signal and returns the exit code; null if the signal killed the process. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  readonly ended: Promise<number | null>;
}

const running = new Set<ChildProcess>();

/** Kills processes that a failed test left running; for `after`. */
export function killLeftovers(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Starts the example at `path`, relative to examples/. */
export function startExample(path: string, args: readonly string[], env: Environment): ExampleProcess {
  const inherited = { PATH: process.env.PATH ?? '' };
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', path, ...args], {
    cwd: EXAMPLES,
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = once(child, 'close').then(([code]) => {
    running.delete(child);
    return code as number | null;
  });
  return {
    output: () => output,
    ended,
    waitForOutput: async (text) => {
      const has = () => (typeof text === 'string' ? output.includes(text) : text.test(output));
      const timeout = AbortSignal.timeout(OUTPUT_TIMEOUT_MS);
      while (!has()) {
        const chunks = [
          once(child.stdout, 'data', { signal: timeout }),
          once(child.stderr, 'data', { signal: timeout }),
        ];
        const isOver = await Promise.race([
          ended.then(() => true),
          ...chunks.map((chunk) => chunk.then(() => false)),
        ]).catch(() => true);
        if (isOver && !has()) throw new Error(`the example did not print ${text}; its output: ${output}`);
      }
    },
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      return await ended;
    },
  };
}

/** Runs an example until it exits. */
export async function runExample(
  path: string,
  args: readonly string[],
  env: Environment,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = startExample(path, args, env);
  const code = await child.ended;
  return { code, output: child.output() };
}

export const PUBLIC_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPxM2bDQAxhJuMKNbvLSnSXdoTcnEtT2gmRXYBrBsvG5 laptop';

/** Adds an SSH key to the account and returns its id. */
export async function addSshKey(skerry: Skerry, name = 'laptop'): Promise<string> {
  return (await skerry.sshKeys.create({ name, public_key: PUBLIC_KEY })).id;
}

/** Returns the id of an official image. */
export async function findImageId(skerry: Skerry, version = '13'): Promise<string> {
  const images = await skerry.images.list({ filter: { family: 'debian' } }).all();
  const image = images.find((candidate) => candidate.version === version);
  if (!image) throw new Error(`image debian-${version} not found in the sandbox`);
  return image.id;
}

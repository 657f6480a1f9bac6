/** Programs of the host: `ip`, `nft`, `qemu-img` and the like. */
import { spawn } from 'node:child_process';
import { ComputeError } from '../../../ports/compute.ts';

const TIMEOUT_MS = 25_000;
/** More than any of them says. */
const OUTPUT_MAX_BYTES = 8 * 1024 ** 2;
const MESSAGE_MAX_CHARS = 200;

/** What a program of the host is told by its environment: nothing of what ours holds, which are secrets. */
export const BARE_ENV = { PATH: process.env.PATH ?? '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

export interface CommandOptions {
  /** What it reads on its standard input. */
  readonly input?: string;
  readonly timeoutMs?: number;
}

/**
 * What the program printed. Fails as `transient` when it ends with another code than 0 or takes too long; the message has
 * the first line that it complained with. No argument may hold a secret: they are seen in the list of processes.
 */
export async function run(
  program: string,
  args: readonly string[],
  { input = '', timeoutMs = TIMEOUT_MS }: CommandOptions = {},
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = spawn(program, args, { timeout: timeoutMs, killSignal: 'SIGKILL', env: BARE_ENV });
  const fail = (reason: string) =>
    reject(new ComputeError('transient', `${program} ${reason}`.slice(0, MESSAGE_MAX_CHARS)));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (stdout.length > OUTPUT_MAX_BYTES) child.kill('SIGKILL');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = `${stderr}${text}`.slice(0, 10 * MESSAGE_MAX_CHARS);
  });
  // One that ends before it has read everything says why in its own words.
  child.stdin.on('error', () => undefined).end(input);
  child.once('error', (error: NodeJS.ErrnoException) =>
    fail(error.code === 'ENOENT' ? 'is not installed' : 'cannot be started'),
  );
  child.once('close', (code, signal) => {
    if (code === 0) resolve(stdout);
    else if (signal === 'SIGKILL') fail(`did not end within ${timeoutMs / 1000} s`);
    else fail(`failed: ${stderr.trim().split('\n')[0] ?? ''}`);
  });
  return await promise;
}

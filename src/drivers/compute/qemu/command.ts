/** Runs programs of the host: `ip`, `nft`, `qemu-img`, and others. */
import { spawn } from 'node:child_process';
import { ComputeError } from '../../../ports/compute.ts';

const TIMEOUT_MS = 25_000;
/** More than any of these programs prints. */
const OUTPUT_MAX_BYTES = 8 * 1024 ** 2;
const MESSAGE_MAX_CHARS = 200;

/** The environment of every child process. It holds none of ours, which contains secrets. */
export const BARE_ENV = { PATH: process.env.PATH ?? '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

export interface CommandOptions {
  /** Written to standard input. */
  readonly input?: string;
  readonly timeoutMs?: number;
}

/**
 * Returns the program's standard output. Throws a `transient` error with the first line of standard error if
 * the program fails or times out. Arguments must not contain secrets: the process list shows them.
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
  // A program that exits before reading all input reports the reason on standard error.
  child.stdin.on('error', () => undefined).end(input);
  child.once('error', (error: NodeJS.ErrnoException) =>
    fail(error.code === 'ENOENT' ? 'is not installed' : 'cannot be started'),
  );
  child.once('close', (code, signal) => {
    if (code === 0) resolve(stdout);
    else if (signal === 'SIGKILL') fail(`did not finish within ${timeoutMs / 1000} s`);
    else fail(`failed: ${stderr.trim().split('\n')[0] ?? ''}`);
  });
  return await promise;
}

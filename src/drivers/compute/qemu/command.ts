/** Programs of the host: `ip`, `nft`, `qemu-img` and the like. */
import { spawn } from 'node:child_process';
import { ComputeError } from '../../../ports/compute.ts';

const TIMEOUT_MS = 25_000;
/** More than any of them says. */
const OUTPUT_MAX_BYTES = 8 * 1024 ** 2;
const SAID_MAX_CHARS = 200;

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
  const failed = (why: string) =>
    reject(new ComputeError('transient', `${program} ${why}`.slice(0, SAID_MAX_CHARS)));
  let printed = '';
  let complained = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    if (printed.length > OUTPUT_MAX_BYTES) child.kill('SIGKILL');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complained = `${complained}${text}`.slice(0, 10 * SAID_MAX_CHARS);
  });
  // One that ends before it has read everything says why in its own words.
  child.stdin.on('error', () => undefined).end(input);
  child.once('error', (error: NodeJS.ErrnoException) =>
    failed(error.code === 'ENOENT' ? 'is not installed' : 'cannot be started'),
  );
  child.once('close', (code, signal) => {
    if (code === 0) resolve(printed);
    else if (signal === 'SIGKILL') failed(`did not end within ${timeoutMs / 1000} s`);
    else failed(`failed: ${complained.trim().split('\n')[0] ?? ''}`);
  });
  return await promise;
}

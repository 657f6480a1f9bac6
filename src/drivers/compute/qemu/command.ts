/** Runs programs of the host: `ip`, `nft`, `qemu-img`, and others. */
import { type ExecFileException, execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ComputeError } from '../../../ports/compute.ts';

const TIMEOUT_MS = 25_000;
/** More than any of these programs prints. */
const OUTPUT_MAX_BYTES = 8 * 1024 ** 2;
const MESSAGE_MAX_CHARS = 200;

/** The environment of every child process. It holds none of ours, which contains secrets. */
export const BARE_ENV = { PATH: process.env.PATH ?? '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

const execute = promisify(execFile);

/** The program ran and failed. Its output is only for the caller: it may name addresses. */
export class CommandFailedError extends ComputeError {
  readonly exitCode: number;
  readonly stderr: string;
  constructor(message: string, exitCode: number, stderr: string) {
    super('transient', message);
    this.exitCode = exitCode;
    this.stderr = stderr;
  }
}

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
  const limits = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: OUTPUT_MAX_BYTES } as const;
  const output = execute(program, args, { ...limits, env: BARE_ENV });
  // A program that exits before reading all input reports the reason on standard error.
  output.child.stdin?.on('error', () => undefined).end(input);
  try {
    return (await output).stdout;
  } catch (error) {
    const failure = error as ExecFileException;
    const message = `${program} ${failureReason(failure, timeoutMs)}`.slice(0, MESSAGE_MAX_CHARS);
    if (typeof failure.code === 'number')
      throw new CommandFailedError(message, failure.code, failure.stderr ?? '');
    throw new ComputeError('transient', message);
  }
}

function failureReason({ code, signal, stderr = '' }: ExecFileException, timeoutMs: number): string {
  if (code === 'ENOENT') return 'is not installed';
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return 'prints too much';
  if (typeof code === 'string') return 'cannot be started';
  if (signal === 'SIGKILL') return `did not finish within ${timeoutMs / 1000} s`;
  return `failed: ${stderr.trim().split('\n')[0] ?? ''}`;
}

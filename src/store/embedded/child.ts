/** Starting other programs: as whom, with which environment, and what came of it. */
import { type SpawnOptions, spawn } from 'node:child_process';

export interface SystemUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * What every child of the embedded database starts with; `user` null means ourselves. Its environment is
 * small because ours holds secrets; its working folder is `/` because ours may be closed to that user.
 * Given a uid and gid, Node also drops root's supplementary groups.
 */
export function childOptions(user: SystemUser | null): SpawnOptions {
  return {
    cwd: '/',
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
  };
}

/** How a program ended: `code` is null when it could not be started or a signal ended it. */
export interface ProcessResult {
  readonly code: number | null;
  readonly output: string;
}

const MAX_OUTPUT_CHARS = 10_000;

/**
 * Runs a program to its end and collects what it printed. `input` is its standard input; `descriptor`
 * becomes its descriptor 3. Never throws: a program that cannot be started is an outcome too.
 */
export function run(
  program: string,
  args: readonly string[],
  options: { user?: SystemUser | null; input?: string; descriptor?: number } = {},
): Promise<ProcessResult> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      ...childOptions(options.user ?? null),
      stdio: ['pipe', 'pipe', 'pipe', ...(options.descriptor === undefined ? [] : [options.descriptor])],
    });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-MAX_OUTPUT_CHARS);
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    // A program that ends without reading its input is no fault of ours.
    child.stdin?.on('error', () => {});
    child.stdin?.end(options.input ?? '');
    child.once('error', (error) => resolve({ code: null, output: error.message }));
    child.once('close', (code) => resolve({ code, output: output.trim() }));
  });
}

/** The line of a program's output that says what went wrong. */
export function findErrorLine(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  return (lines.find((line) => /error|fatal|panic/i.test(line)) ?? lines.at(-1) ?? 'no message').trim();
}

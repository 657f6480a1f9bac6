/** Starts other programs with a given user and a minimal environment, and collects their output. */
import { type SpawnOptions, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';

export interface SystemUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * The options of every child of the embedded database; `user` null means our own. The environment is minimal
 * because ours contains secrets; the working directory is `/` because that user may not be able to enter
 * ours. Given a uid and gid, Node also drops root's supplementary groups.
 */
export function childOptions(user: SystemUser | null): SpawnOptions {
  return {
    cwd: '/',
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
  };
}

/** How a program ended: `code` is null when it could not be started or was killed by a signal. */
export interface ProcessResult {
  readonly code: number | null;
  readonly output: string;
}

const MAX_OUTPUT_CHARS = 10_000;

/**
 * Runs a program and collects its output. `input` is its standard input; `descriptor` becomes its descriptor
 * 3. Never throws: a program that cannot be started is a result, too.
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
    // A program may exit without reading its input.
    child.stdin?.on('error', () => {});
    child.stdin?.end(options.input ?? '');
    child.once('error', (error) => resolve({ code: null, output: error.message }));
    child.once('close', (code) => resolve({ code, output: output.trim() }));
  });
}

/** Returns the line of a program's output that describes the error. */
export function findErrorLine(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  return (lines.find((line) => /error|fatal|panic/i.test(line)) ?? lines.at(-1) ?? 'no message').trim();
}

/**
 * Returns the user that PostgreSQL must run as, or null for our own: it refuses root, so a service started by
 * root uses an unprivileged user. Throws when there is none.
 */
export async function databaseUser(): Promise<SystemUser | null> {
  if (process.geteuid?.() !== 0) return null;
  const rows = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const row = rows.find((fields) => fields[0] === name);
    const [uid, gid] = [Number(row?.[2]), Number(row?.[3])];
    if (uid > 0 && gid > 0) return { name, uid, gid };
  }
  throw new Error(
    'the embedded database cannot run as root, and there is no user "postgres" or "nobody" to run it; ' +
      'start Skerry as an unprivileged user, or set DATABASE_URL to a PostgreSQL server',
  );
}

/** Whether `user` can enter `folder`. Asks the kernel, because it also knows ACLs. */
export async function canEnter(user: SystemUser, folder: string): Promise<boolean> {
  return (await run('/bin/sh', ['-c', 'test -x "$1"', 'sh', folder], { user })).code === 0;
}

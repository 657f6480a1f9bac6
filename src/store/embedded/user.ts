/**
 * The user that PostgreSQL runs as. It refuses root, so a service started by root uses an unprivileged user.
 */
import { readFile } from 'node:fs/promises';
import { run, type SystemUser } from './child.ts';

/**
 * Returns the user that PostgreSQL must run as, or null for our own. Throws when root finds no suitable user.
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

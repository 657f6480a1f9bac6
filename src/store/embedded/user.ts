/** As whom PostgreSQL runs. It refuses root, so a service started by root hands it to an unprivileged user. */
import { readFile } from 'node:fs/promises';
import { run, type SystemUser } from './child.ts';

/** The user PostgreSQL must run as, or null when it can run as ourselves. Throws when root finds none. */
export async function databaseUser(): Promise<SystemUser | null> {
  if (process.geteuid?.() !== 0) return null;
  const rows = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const row = rows.find((fields) => fields[0] === name);
    const [uid, gid] = [Number(row?.[2]), Number(row?.[3])];
    if (uid > 0 && gid > 0) return { name, uid, gid };
  }
  throw new Error(
    'the embedded database cannot run as root, and there is no user "postgres" or "nobody" to run it as: ' +
      'start Skerry as an ordinary user, or set DATABASE_URL',
  );
}

/** Whether `user` can reach and pass through `folder`. The kernel is asked, for it also knows of ACLs. */
export async function canEnter(user: SystemUser, folder: string): Promise<boolean> {
  return (await run('/bin/sh', ['-c', 'test -x "$1"', 'sh', folder], { user })).code === 0;
}

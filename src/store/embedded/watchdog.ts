/**
 * The watchdog: a small shell that waits on a pipe from the service. When the service dies for any reason,
 * the pipe closes and the shell stops the database, so no database outlives its service. After a regular stop
 * of the database, the watchdog is dismissed.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { settlesWithin } from '../../kernel/timeout.ts';
import type { Binaries } from './binaries.ts';
import { childOptions } from './child.ts';
import type { Home } from './home.ts';
import type { Lock } from './lock.ts';
import type { Socket } from './socket.ts';

export interface Watchdog {
  /** Ends the watchdog without stopping the database. */
  dismiss(): Promise<void>;
}

/**
 * The shell holds the lock: otherwise a new start could take the directory while an old watchdog is about to
 * stop "the database in that directory". It checks twice before it concludes that nothing is running, because
 * a postgres that just started has not written its pid yet. It compares the working directory of that pid,
 * which may belong to an unrelated process by now.
 */
const SCRIPT = `
trap '' INT TERM HUP
read -r word && exit 0
pg_ctl=$1 cluster=$2 socket=$3
lives() { read -r pid < "$cluster/postmaster.pid" && [ "/proc/$pid/cwd" -ef "$cluster" ]; }
lives || sleep 0.2
lives || sleep 0.3
if lives; then
  "$pg_ctl" stop -s -w -t 10 -m fast -D "$cluster" || "$pg_ctl" stop -s -w -t 3 -m immediate -D "$cluster"
fi
if [ -n "$socket" ]; then
  rm -f "$socket"/.s.PGSQL.*
  rmdir "$socket"
fi
`;

const EXIT_TIMEOUT_MS = 1_000;
const RESPAWN_DELAY_MS = 100;

/** Starts the watchdog, and replaces it if it is killed. Start it before the database. */
export async function startWatchdog(
  home: Home,
  binaries: Binaries,
  lock: Lock,
  socket: Socket,
): Promise<Watchdog> {
  let dismissed = false;
  const spawnShell = (): ChildProcess => {
    const args = [binaries.pgCtl, home.cluster, socket.temporary ? socket.folder : ''];
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'skerry-watch', ...args], {
      ...childOptions(home.user),
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore', lock.descriptor],
    });
    child.stdin?.on('error', () => {});
    child.once('error', respawnLater);
    child.once('exit', respawnLater);
    return child;
  };
  const respawnLater = (): void => {
    setTimeout(() => {
      if (!dismissed) shell = spawnShell();
    }, RESPAWN_DELAY_MS).unref();
  };
  let shell = spawnShell();
  await once(shell, 'spawn');
  return {
    dismiss: async () => {
      dismissed = true;
      await dismissShell(shell);
    },
  };
}

async function dismissShell(shell: ChildProcess): Promise<void> {
  if (shell.exitCode !== null || shell.signalCode !== null || shell.pid === undefined) return;
  const exited = once(shell, 'exit');
  shell.stdin?.end('dismiss\n');
  await settlesWithin(exited, EXIT_TIMEOUT_MS);
  if (shell.exitCode === null && shell.signalCode === null) shell.kill('SIGKILL');
  await exited;
}

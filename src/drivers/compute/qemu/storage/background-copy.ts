/**
 * Copies of disks that take longer than a caller waits. A process of its own makes each, so it goes on when the service
 * ends; that it runs is known by a lock that it holds, which neither a kill nor a start of the host leaves behind. The file has
 * its name when it is whole; that is never the name of a disk which a machine may run on.
 */
import { spawn } from 'node:child_process';
import { access, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ComputeError } from '../../../../ports/compute.ts';
import { BARE_ENV } from '../command.ts';
import type { QemuHost } from '../host.ts';

export type CopyState = 'done' | 'copying' | 'failed';

export interface Copy {
  readonly from: string;
  readonly to: string;
  /** How large its guest is to see it; null: as it is. */
  readonly diskGb: number | null;
}

/** The process says its group, for who wants to end it. Holes stay holes; where the file system can, nothing is copied at all. */
const SCRIPT = `
echo $PPID > "$2.copy" || { : > "$2.failed"; exit 1; }
cp --reflink=auto --sparse=always -- "$1" "$2.part" &&
  { [ -z "$3" ] || qemu-img resize -q -f qcow2 "$2.part" "$3"; } &&
  sync -- "$2.part" && mv -- "$2.part" "$2" || : > "$2.failed"
rm -f -- "$2.copy"`;
const POLL_INTERVAL_MS = 20;
const STOP_MAX_MS = 5_000;

/** How far the copy is after this long at most. One that was killed is begun again. The caller holds a lock on `to`. */
export async function copyInBackground(host: QemuHost, copy: Copy, waitMs: number): Promise<CopyState> {
  const deadline = Date.now() + waitMs;
  const outcome = await readOutcome(copy.to);
  if (outcome !== undefined) return outcome;
  if (!(await isRunning(host, copy.to))) await startCopy(host, copy);
  while (Date.now() < deadline) {
    const state = await readOutcome(copy.to);
    if (state !== undefined) return state;
    await pause(POLL_INTERVAL_MS);
  }
  return (await readOutcome(copy.to)) ?? 'copying';
}

/** Whether it was begun, be it done by now, and not given up. */
export async function isStarted(to: string): Promise<boolean> {
  return (await exists(to)) || (await exists(`${to}.lock`));
}

async function readOutcome(to: string): Promise<'done' | 'failed' | undefined> {
  if (await exists(to)) return 'done';
  return (await exists(`${to}.failed`)) ? 'failed' : undefined;
}

/** Returns when the process can be ended by who wants to. */
async function startCopy(host: QemuHost, { from, to, diskGb }: Copy): Promise<void> {
  // What one that was killed has left would lead to a process that is somebody else's by now.
  await rm(`${to}.copy`, { force: true });
  const size = diskGb === null ? '' : `${diskGb}G`;
  const args = ['--nonblock', `${to}.lock`, 'sh', '-c', SCRIPT, 'sh', from, to, size];
  const child = spawn('flock', args, { detached: true, stdio: 'ignore', cwd: '/', env: BARE_ENV });
  let ended = false;
  child.once('exit', () => {
    ended = true;
  });
  child.once('error', (err) => {
    ended = true;
    host.log.error({ err }, 'a disk cannot be copied');
  });
  child.unref();
  while (!ended && !(await exists(`${to}.copy`))) await pause(POLL_INTERVAL_MS);
}

/** Ends it, if it runs, and leaves nothing of it but what it has put in place. */
export async function stopCopy(host: QemuHost, to: string): Promise<void> {
  const deadline = Date.now() + STOP_MAX_MS;
  while (await isRunning(host, to)) {
    if (Date.now() > deadline) throw new ComputeError('transient', 'a copy of a disk does not end');
    await killCopy(to);
    await pause(POLL_INTERVAL_MS);
  }
  for (const suffix of ['part', 'copy', 'failed', 'lock']) await rm(`${to}.${suffix}`, { force: true });
}

/** Ends every copy that is to become a disk in the machine's folder, and deletes what there is of it, but for `kept`. */
export async function stopCopies(
  host: QemuHost,
  folder: string,
  exceptPath: string | null = null,
): Promise<void> {
  for (const path of await listCopies(folder)) {
    if (path === exceptPath) continue;
    await stopCopy(host, path);
    await rm(path, { force: true });
  }
}

/** Every copy that is to become a disk in the machine's folder, whole or not: where it goes. */
export async function listCopies(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch(() => []);
  const copies = new Set(files.flatMap((file) => /^copy-.*\.qcow2/.exec(file)?.[0] ?? []));
  return [...copies].map((name) => join(folder, name));
}

async function killCopy(to: string): Promise<void> {
  const group = Number(await readFile(`${to}.copy`, 'utf8').catch(() => ''));
  if (!Number.isInteger(group) || group <= 1) return;
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // It ended by itself meanwhile.
  }
}

/** Whether somebody holds its lock. */
async function isRunning(host: QemuHost, to: string): Promise<boolean> {
  const lock = `${to}.lock`;
  if (!(await exists(lock))) return false;
  return await host.run('flock', ['--nonblock', lock, 'true']).then(
    () => false,
    () => true,
  );
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

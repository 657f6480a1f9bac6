/**
 * Disk copies that take longer than a caller waits. A detached process makes each, so it survives the
 * service. It holds a lock while it runs; a kill or a restart of the host releases it. The file gets its
 * final name when it is complete, and that is never the name of a disk in use.
 */
import { spawn } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ComputeError } from '../../../../ports/compute.ts';
import { BARE_ENV, run } from '../command.ts';
import { exists } from '../files.ts';
import type { QemuHost } from '../host.ts';
import { readBackingImage } from '../machine/isolation.ts';
import { killIfAlive } from '../processes.ts';
import { resizeCommand } from '../qcow2.ts';

export type CopyState = 'done' | 'copying' | 'failed';

export interface Copy {
  readonly from: string;
  readonly to: string;
  /** Size of the new disk; null keeps the size. */
  readonly diskGb: number | null;
}

/** Work that takes long, and ends with a file at `to`. */
export interface LongWork {
  readonly to: string;
  /** Returns a shell script and its arguments. A repetition starts from the beginning. */
  readonly script: () => Promise<readonly [text: string, ...args: string[]]>;
}

/** Writes its process group to a file, so that others can kill it. The path is followed by a command. */
const SCRIPT = `
to=$1
shift
echo $PPID > "$to.copy" || { : > "$to.failed"; exit 1; }
"$@" || : > "$to.failed"
rm -f -- "$to.copy"`;
/** Keeps holes; uses reflinks if possible. The command that enlarges the copy, if any, follows the paths. */
const COPY_SCRIPT = `
resize() { shift 2; "$@"; }
cp --reflink=auto --sparse=always -- "$1" "$2.part" &&
  { [ $# -eq 2 ] || resize "$@"; } &&
  sync -- "$2.part" && mv -- "$2.part" "$2"`;
const POLL_INTERVAL_MS = 20;
const STOP_MAX_MS = 5_000;

/**
 * Starts or restarts the copy and returns its state after at most `waitMs`. The caller holds a lock on `to`.
 */
export async function copyInBackground(host: QemuHost, copy: Copy, waitMs: number): Promise<CopyState> {
  return await workInBackground(host, { to: copy.to, script: () => copyScript(host, copy) }, waitMs);
}

/** Does the same for other work with the same life. */
export async function workInBackground(host: QemuHost, work: LongWork, waitMs: number): Promise<CopyState> {
  const deadline = performance.now() + waitMs;
  const outcome = await readOutcome(work.to);
  if (outcome !== undefined) return outcome;
  if (!(await isRunning(work.to))) {
    // It may have ended after it was asked, and must not start over.
    const ended = await readOutcome(work.to);
    if (ended !== undefined) return ended;
    await startWork(host, work);
  }
  while (performance.now() < deadline) {
    const state = await readOutcome(work.to);
    if (state !== undefined) return state;
    await pause(POLL_INTERVAL_MS);
  }
  return (await readOutcome(work.to)) ?? 'copying';
}

/** Whether the copy was started, finished or not, and has not been discarded. */
export async function isStarted(to: string): Promise<boolean> {
  return (await exists(to)) || (await exists(`${to}.lock`));
}

async function readOutcome(to: string): Promise<'done' | 'failed' | undefined> {
  if (await exists(to)) return 'done';
  return (await exists(`${to}.failed`)) ? 'failed' : undefined;
}

async function copyScript(
  host: QemuHost,
  { from, to, diskGb }: Copy,
): Promise<readonly [string, ...string[]]> {
  if (diskGb === null) return [COPY_SCRIPT, from, to];
  const part = { path: `${to}.part`, uid: process.getuid?.() ?? 0 };
  const backing = await readBackingImage(host, from);
  return [COPY_SCRIPT, from, to, ...(await resizeCommand(host, { ...part, sizeGb: diskGb, backing }))];
}

/** Returns once the process can be stopped by others. */
async function startWork(host: QemuHost, { to, script }: LongWork): Promise<void> {
  // The file of a killed copy could name a process group that was reused since.
  await rm(`${to}.copy`, { force: true });
  const [text, ...words] = await script();
  const args = ['--nonblock', `${to}.lock`, 'sh', '-c', SCRIPT, 'sh', to, 'sh', '-c', text, 'sh', ...words];
  const child = spawn('flock', args, { detached: true, stdio: 'ignore', cwd: '/', env: BARE_ENV });
  let ended = false;
  child.once('exit', () => {
    ended = true;
  });
  child.once('error', (err) => {
    ended = true;
    host.log.error({ err }, 'starting a disk copy failed');
  });
  child.unref();
  while (!ended && !(await exists(`${to}.copy`))) await pause(POLL_INTERVAL_MS);
}

/** Stops the copy if it runs and deletes its temporary files. A completed copy stays. */
export async function stopCopy(to: string): Promise<void> {
  const deadline = performance.now() + STOP_MAX_MS;
  while (await isRunning(to)) {
    if (performance.now() > deadline) throw new ComputeError('transient', 'a disk copy cannot be stopped');
    await killCopy(to);
    await pause(POLL_INTERVAL_MS);
  }
  for (const suffix of ['part', 'copy', 'failed', 'lock']) await rm(`${to}.${suffix}`, { force: true });
}

/** Stops and deletes every copy for a future disk in the machine's folder, except the one at `exceptPath`. */
export async function stopCopies(folder: string, exceptPath: string | null = null): Promise<void> {
  for (const path of await listCopies(folder)) {
    if (path === exceptPath) continue;
    await stopCopy(path);
    await rm(path, { force: true });
  }
}

/** Returns the target paths of all copies for future disks in the machine's folder, complete or not. */
export async function listCopies(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch(() => []);
  const copies = new Set(files.flatMap((file) => /^copy-.*\.qcow2/.exec(file)?.[0] ?? []));
  return [...copies].map((name) => join(folder, name));
}

async function killCopy(to: string): Promise<void> {
  const group = Number(await readFile(`${to}.copy`, 'utf8').catch(() => ''));
  if (!Number.isInteger(group) || group <= 1) return;
  killIfAlive(-group);
}

/** Whether a process holds the copy's lock. */
async function isRunning(to: string): Promise<boolean> {
  const lock = `${to}.lock`;
  if (!(await exists(lock))) return false;
  return await run('flock', ['--nonblock', lock, 'true']).then(
    () => false,
    () => true,
  );
}

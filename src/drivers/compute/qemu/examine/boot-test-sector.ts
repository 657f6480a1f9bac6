/**
 * Boots a single sector that writes one word to the serial port. Opening /dev/kvm proves nothing: on some
 * machines it opens, but guests fail at their first instructions.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { HostFinding } from '../../../../ports/compute.ts';
import { BARE_ENV } from '../command.ts';
import type { QemuHost } from '../host.ts';
import { findStaleFolders } from '../processes.ts';

const WORD = 'skerry';
const WAIT_MAX_MS = 30_000;
const POLL_INTERVAL_MS = 50;
const SECTOR_BYTES = 512;
const PREFIX = 'skerry-examine-';

export async function bootTestSector({ options }: QemuHost, signal: AbortSignal): Promise<HostFinding> {
  const { accelerator } = options;
  const subject = 'accelerator';
  for (const staleFolder of await findStaleFolders(tmpdir(), PREFIX))
    await rm(staleFolder, { recursive: true, force: true });
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  try {
    const startedAt = performance.now();
    const problem = await boot(folder, accelerator, signal);
    if (problem === null)
      return {
        level: 'ok',
        subject,
        message: `${accelerator} ran code after ${Math.round(performance.now() - startedAt)} ms`,
      };
    const fix =
      accelerator === 'kvm' ? 'KVM on this machine cannot run guests; use other hardware' : 'Reinstall QEMU';
    return { level: 'fail', subject, message: `${accelerator}: ${problem}. ${fix}` };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns null if the word arrived, otherwise the problem. */
async function boot(folder: string, accelerator: string, signal: AbortSignal): Promise<string | null> {
  const [disk, serial] = [join(folder, 'disk'), join(folder, 'serial')];
  await writeFile(disk, testSector());
  const args = [
    ['-nodefaults', '-no-user-config'],
    ['-machine', `pc,accel=${accelerator}`],
    ['-m', '32'],
    ['-display', 'none'],
    ['-drive', `file=${disk},format=raw,if=ide`],
    ['-serial', `file:${serial}`],
  ].flat();
  // The guest never exits, so it must be killed together with this process, even if that is killed with
  // SIGKILL.
  const setprivArgs = ['--pdeathsig', 'KILL', '--', 'qemu-system-x86_64', ...args];
  const child = spawn('setpriv', setprivArgs, { stdio: ['ignore', 'ignore', 'pipe'], env: BARE_ENV });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = `${stderr}${text}`.slice(0, 2_000);
  });
  let hasEnded = false;
  const ended = once(child, 'close')
    .catch(() => undefined)
    .then(() => {
      hasEnded = true;
    });
  try {
    for (
      const deadline = performance.now() + WAIT_MAX_MS;
      performance.now() < deadline && !hasEnded;
      await pause(POLL_INTERVAL_MS)
    ) {
      signal.throwIfAborted();
      if ((await readFile(serial, 'latin1').catch(() => '')).includes(WORD)) return null;
    }
    if (hasEnded) return `QEMU exited: ${stderr.trim().split('\n').at(-1) ?? ''}`;
    return `a guest did not run a single instruction within ${WAIT_MAX_MS / 1000} s`;
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

/** Builds: `mov` the port, `lodsb` and `out` until the end of the word, then `hlt` in a loop. */
function testSector(): Buffer {
  const code = Buffer.from('31c08ed8fc baf803 be167c ac84c07403eeebf8 f4ebfd'.replaceAll(' ', ''), 'hex');
  const bytes = Buffer.alloc(SECTOR_BYTES);
  Buffer.concat([code, Buffer.from(`${WORD}\0`)]).copy(bytes);
  bytes.writeUInt16LE(0xaa55, SECTOR_BYTES - 2);
  return bytes;
}

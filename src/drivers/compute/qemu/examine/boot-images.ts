/**
 * Boots a machine from each imported disk like a customer's, in a scratch folder and a scratch network, until
 * SSH answers. The names of both contain the id of the process that created them, so a later process can
 * remove what a killed one left.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BaseImage, HostFinding, MachineSpec } from '../../../../ports/compute.ts';
import { run } from '../command.ts';
import { QemuHost } from '../host.ts';
import { QemuImages } from '../images/images.ts';
import { ensureMachine, removeMachine } from '../machine/install.ts';
import { observeMachines } from '../machine/observe.ts';
import { findStaleFolders, killIfAlive } from '../processes.ts';
import { listRecords } from '../record.ts';

const WAIT_MAX_MS = { kvm: 3 * 60_000, tcg: 15 * 60_000 } as const;
const POLL_INTERVAL_MS = 500;
/** Enough for any distribution. */
const RAM_MB = 1_024;
const SCRATCH_HOST = 'examined';
const SCRATCH_PREFIX = 'examine-';

/** Stops and cleans up when the signal aborts. */
export async function* bootImages(host: QemuHost, signal: AbortSignal): AsyncIterable<HostFinding> {
  for (const folder of await findStaleFolders(host.layout.dir, SCRATCH_PREFIX))
    await closeScratch(scratchHost(host, folder));
  const imported = new QemuImages(host);
  const images = await imported.list();
  if (images.length === 0) {
    const message = 'no images are imported: skerryd images import FILE --image debian-12';
    yield { level: 'fail', subject: 'images', message };
    return;
  }
  if (!(await imported.rescue())) {
    const message = 'no rescue system: rescue mode is unavailable until skerryd images import FILE --rescue';
    yield { level: 'note', subject: 'images', message };
  }
  for (const image of images) yield await bootImage(host, image, signal);
}

async function bootImage(host: QemuHost, image: BaseImage, signal: AbortSignal): Promise<HostFinding> {
  const subject = `boot of ${image.sha256.slice(0, 12)}`;
  let scratch: QemuHost | undefined;
  try {
    signal.throwIfAborted();
    scratch = await openScratch(host);
    return { subject, ...(await waitForSsh(scratch, image, signal)) };
  } catch (error) {
    signal.throwIfAborted();
    const message = error instanceof Error ? error.message : 'the boot failed';
    return { level: 'fail', subject, message };
  } finally {
    if (scratch) await closeScratch(scratch);
  }
}

async function waitForSsh(
  scratch: QemuHost,
  image: BaseImage,
  signal: AbortSignal,
): Promise<Pick<HostFinding, 'level' | 'message'>> {
  const waitMaxMs = WAIT_MAX_MS[scratch.options.accelerator];
  const startedAt = performance.now();
  const spec = testMachineSpec(image);
  await ensureMachine(scratch, spec);
  while (performance.now() - startedAt < waitMaxMs) {
    const [observed] = await observeMachines(scratch, [spec.id]);
    if (observed?.state === 'running') {
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      return { level: 'ok', message: `SSH answered after ${seconds} s` };
    }
    await pause(POLL_INTERVAL_MS, undefined, { signal });
  }
  const message =
    `no SSH within ${waitMaxMs / 60_000} minutes: ` +
    'check that the disk has cloud-init and sshd and boots with a BIOS';
  return { level: 'fail', message };
}

async function openScratch(host: QemuHost): Promise<QemuHost> {
  const scratch = scratchHost(host, await mkdtemp(join(host.layout.dir, `${SCRATCH_PREFIX}${process.pid}-`)));
  try {
    await run('ip', ['netns', 'add', netnsName(scratch)]);
    await run('cp', ['--archive', '--link', host.layout.images(), scratch.layout.images()]);
  } catch (error) {
    await closeScratch(scratch);
    throw error;
  }
  return scratch;
}

/** Removes the folder with its machines, whichever process created it. */
async function closeScratch(scratch: QemuHost): Promise<void> {
  for (const id of await listRecords(scratch.layout)) {
    await removeMachine(scratch, id).catch((err) =>
      scratch.log.warn({ err }, 'removing a test machine failed, killing it'),
    );
  }
  const netns = netnsName(scratch);
  // Only the driver starts processes there: kill any that it could not end.
  const pids = await run('ip', ['netns', 'pids', netns]).catch(() => '');
  for (const pid of pids.split('\n').map(Number)) if (pid > 1) killIfAlive(pid);
  await run('ip', ['netns', 'delete', netns]).catch(() => undefined);
  for (const folder of [scratch.layout.dir, scratch.layout.runDir])
    await rm(folder, { recursive: true, force: true });
}

/** The same host with another folder and network, whose addresses are not announced. */
function scratchHost({ options }: QemuHost, dir: string): QemuHost {
  const netns = `skerry-${basename(dir)}`;
  return new QemuHost({ ...options, dir, hosts: [SCRATCH_HOST], netns, announcement: null });
}

function netnsName({ options }: QemuHost): string {
  return options.netns ?? '';
}

/** Uses documentation addresses, which are not routed. */
function testMachineSpec({ sha256, diskGb }: BaseImage): MachineSpec {
  return {
    id: `examine-${sha256.slice(0, 20)}`,
    host: SCRATCH_HOST,
    generation: 1,
    hostname: 'examined',
    cpu: 1,
    ramMb: RAM_MB,
    diskGb,
    image: { id: 'examined', family: 'examined', version: '1', cloudInit: true, iso: null, base: sha256 },
    ipv4: { address: '192.0.2.10', gateway: '192.0.2.1' },
    ipv6: { address: '2001:db8:0:10::1', prefix: '2001:db8:0:10::/64' },
    sshKeys: [],
    rootPasswordHash: null,
    userData: null,
  };
}

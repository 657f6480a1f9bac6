/** Boots a machine from each imported disk like a customer's, in a separate network, until SSH answers. */
import { setTimeout as pause } from 'node:timers/promises';
import type { BaseImage, ComputeDriver, HostFinding, MachineSpec } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import {
  closeScratch,
  type DriverFactory,
  openScratch,
  removeStaleScratch,
  SCRATCH_HOST,
  type Scratch,
} from './scratch.ts';

const WAIT_MAX_MS = { kvm: 3 * 60_000, tcg: 15 * 60_000 } as const;
const POLL_INTERVAL_MS = 500;
/** Enough for any distribution. */
const RAM_MB = 1_024;

/** Stops and cleans up when the signal aborts. */
export async function* bootImages(
  host: QemuHost,
  createDriver: DriverFactory,
  signal: AbortSignal,
): AsyncIterable<HostFinding> {
  await removeStaleScratch(host, createDriver);
  const images = await createDriver(host.options).images?.list();
  if (!images || images.length === 0) {
    yield {
      level: 'fail',
      subject: 'images',
      message: 'no images are imported: skerryd images import FILE --image debian-12',
    };
    return;
  }
  const rescue = await createDriver(host.options).images?.rescue();
  if (!rescue) {
    const message = 'no rescue system: rescue mode is unavailable until skerryd images import FILE --rescue';
    yield { level: 'note', subject: 'images', message };
  }
  for (const image of images) yield await bootImage(host, createDriver, image, signal);
}

async function bootImage(
  host: QemuHost,
  createDriver: DriverFactory,
  image: BaseImage,
  signal: AbortSignal,
): Promise<HostFinding> {
  const subject = `boot of ${image.sha256.slice(0, 12)}`;
  const waitMaxMs = WAIT_MAX_MS[host.options.accelerator];
  let scratch: Scratch | undefined;
  try {
    signal.throwIfAborted();
    scratch = await openScratch(host, createDriver);
    return await waitForSsh(scratch.driver, image, { what: subject, waitMaxMs, signal });
  } catch (error) {
    signal.throwIfAborted();
    const message = error instanceof Error ? error.message : 'the boot failed';
    return { level: 'fail', subject, message };
  } finally {
    if (scratch) await closeScratch(host, createDriver, scratch.folder);
  }
}

async function waitForSsh(
  driver: ComputeDriver,
  image: BaseImage,
  options: { readonly what: string; readonly waitMaxMs: number; readonly signal: AbortSignal },
): Promise<HostFinding> {
  const { what: subject, waitMaxMs, signal } = options;
  const startedAt = Date.now();
  const spec = testMachineSpec(image);
  await driver.ensure(spec);
  while (Date.now() - startedAt < waitMaxMs) {
    const [observed] = await driver.observe([spec.id]);
    if (observed?.state === 'running') {
      return {
        level: 'ok',
        subject,
        message: `SSH answered after ${Math.round((Date.now() - startedAt) / 1000)} s`,
      };
    }
    await pause(POLL_INTERVAL_MS, undefined, { signal });
  }
  const message =
    `no SSH within ${waitMaxMs / 60_000} minutes: ` +
    'check that the disk has cloud-init and sshd and boots with a BIOS';
  return { level: 'fail', subject, message };
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

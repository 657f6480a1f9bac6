/** Installs a machine from each imported disk as a customer's would be, in a network of its own, until SSH answers. */
import { setTimeout as pause } from 'node:timers/promises';
import type { BaseImage, ComputeDriver, Examined, MachineSpec } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { type Another, closeScratch, HOST, openScratch, removeLeft, type Scratch } from './scratch.ts';

const WAIT_MAX_MS = { kvm: 3 * 60_000, tcg: 15 * 60_000 } as const;
const LOOK_EVERY_MS = 500;
/** Enough for any distribution. */
const RAM_MB = 1_024;

/** Ends early, and leaves nothing, when the signal says so. */
export async function* bootImages(
  host: QemuHost,
  another: Another,
  signal: AbortSignal,
): AsyncIterable<Examined> {
  await removeLeft(host, another);
  const images = await another(host.options).images?.list();
  if (!images || images.length === 0) {
    yield {
      level: 'look',
      what: 'images',
      says: 'none is imported: skerryd images import FILE --image debian-12',
    };
    return;
  }
  const rescue = await another(host.options).images?.rescue();
  if (!rescue) {
    const says = 'no rescue system: skerryd images import FILE --rescue; until then a rescue is refused';
    yield { level: 'note', what: 'images', says };
  }
  for (const image of images) yield await bootImage(host, another, image, signal);
}

async function bootImage(
  host: QemuHost,
  another: Another,
  image: BaseImage,
  signal: AbortSignal,
): Promise<Examined> {
  const what = `boot of ${image.sha256.slice(0, 12)}`;
  const waitMaxMs = WAIT_MAX_MS[host.options.accelerator];
  let scratch: Scratch | undefined;
  try {
    signal.throwIfAborted();
    scratch = await openScratch(host, another);
    return await untilItAnswers(scratch.driver, image, { what, waitMaxMs, signal });
  } catch (error) {
    signal.throwIfAborted();
    return { level: 'look', what, says: error instanceof Error ? error.message : 'it failed' };
  } finally {
    if (scratch) await closeScratch(host, another, scratch.folder);
  }
}

async function untilItAnswers(
  driver: ComputeDriver,
  image: BaseImage,
  how: { readonly what: string; readonly waitMaxMs: number; readonly signal: AbortSignal },
): Promise<Examined> {
  const { what, waitMaxMs, signal } = how;
  const began = Date.now();
  const spec = machineOf(image);
  await driver.ensure(spec);
  while (Date.now() - began < waitMaxMs) {
    const [seen] = await driver.observe([spec.id]);
    if (seen?.state === 'running') {
      return { level: 'ok', what, says: `SSH answers after ${Math.round((Date.now() - began) / 1000)} s` };
    }
    await pause(LOOK_EVERY_MS, undefined, { signal });
  }
  const says = `no SSH within ${waitMaxMs / 60_000} minutes: is it a disk with cloud-init and sshd, and bootable by BIOS?`;
  return { level: 'look', what, says };
}

/** Addresses that are kept for documents: they lead nowhere outside its network. */
function machineOf({ sha256, diskGb }: BaseImage): MachineSpec {
  return {
    id: `examine-${sha256.slice(0, 20)}`,
    host: HOST,
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

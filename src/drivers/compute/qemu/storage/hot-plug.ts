/** Hot-plugs volumes into a running QEMU. Each step checks whether an earlier, killed call already did it. */
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { volumeSerial } from '../host.ts';
import { type Qmp, QmpRefusedError, withQmp } from '../qmp.ts';
import { GIB, requireSpace } from '../space.ts';
import { type BlockNode, closeNode, listBlockNodes, openNode } from './block-nodes.ts';
import { openCephNode } from './ceph.ts';
import { lendFile } from './lent-files.ts';
import { imageName } from './shared-volumes.ts';
import type { VolumeRecord } from './volume-record.ts';

/**
 * PCI slots of volumes start here, in the order of device letters, so that guests find them in this order.
 */
const FIRST_SLOT = 0x10;
export const VOLUME_SLOTS = 15;

/** Name of the block node of a volume. */
export const nodeName = (volumeId: string) => `vol-${volumeSerial(volumeId)}`;
const deviceId = (volumeId: string) => `dev-${nodeName(volumeId)}`;

/** Returns the PCI slot of a device from /dev/vdb to /dev/vdp. Rejects further ones. */
export function pciSlot(device: string): number {
  const letter = /^\/dev\/vd([b-z])$/.exec(device)?.[1] ?? 'z';
  const index = letter.charCodeAt(0) - 'b'.charCodeAt(0);
  if (index >= VOLUME_SLOTS)
    throw new ComputeError('refused', `a machine supports ${VOLUME_SLOTS} volumes, up to /dev/vdp`);
  return FIRST_SLOT + index;
}

/** Returns the volume's node, or undefined if QEMU does not have it open. */
export async function findVolumeNode(qmp: Qmp, volumeId: string): Promise<BlockNode | undefined> {
  return (await listBlockNodes(qmp)).find((node) => node['node-name'] === nodeName(volumeId));
}

/** Plugs the volume, whose file exists. A guest that has shut down gets it at the next power-on instead. */
export async function plug(
  host: QemuHost,
  qmp: Qmp,
  { id, device, machineId, shared }: VolumeRecord,
): Promise<void> {
  if (device === null || machineId === null) throw new Error('a detached volume has no slot');
  const { status } = await qmp.execute<{ readonly status: string }>('query-status');
  if (status === 'shutdown') return;
  const name = nodeName(id);
  if (shared) {
    if (!(await findVolumeNode(qmp, id))) await openCephNode(host, qmp, { name, image: imageName(id) });
    return await addDevice(qmp, { id, device });
  }
  const path = host.layout.volume(id, 'qcow2');
  if (!(await findVolumeNode(qmp, id))) await lendFile(host, machineId, { kind: 'volumes', path });
  await plugLent(qmp, { id, device, path });
}

/** Plugs a volume that QEMU can open at the path. */
export async function plugLent(
  qmp: Qmp,
  { id, device, path }: { readonly id: string; readonly device: string; readonly path: string },
): Promise<void> {
  if (!(await findVolumeNode(qmp, id))) await openNode(qmp, { name: nodeName(id), path });
  await addDevice(qmp, { id, device });
}

/** Plugs the open volume, unless QEMU has the device. */
async function addDevice(
  qmp: Qmp,
  { id, device }: { readonly id: string; readonly device: string },
): Promise<void> {
  if (await hasDevice(qmp, id)) return;
  await qmp.execute('device_add', {
    driver: 'virtio-blk-pci',
    id: deviceId(id),
    drive: nodeName(id),
    serial: volumeSerial(id),
    bus: 'pci.0',
    addr: `0x${pciSlot(device).toString(16)}`,
  });
}

/** Resizes the open volume to the size in its record while the guest uses it. */
export async function growNode(
  host: QemuHost,
  qmp: Qmp,
  record: VolumeRecord,
  node: BlockNode,
): Promise<void> {
  const size = record.sizeGb * GIB;
  const moreBytes = size - node.image['virtual-size'];
  if (moreBytes <= 0) return;
  if (!record.shared) await requireSpace(host.layout.volumes(), moreBytes);
  await qmp.execute('block_resize', { 'node-name': nodeName(record.id), size });
}

/**
 * How many times to wait for the guest to release a volume, and for how long each time. In between, other
 * clients can use QEMU. A repeated request waits only once: the guest already had its time.
 */
const UNPLUG_CHECKS = 5;
const UNPLUG_CHECK_MS = 2_000;

/**
 * Unplugs the volume. The guest must cooperate: while it boots, or without hot-plug support, it keeps the
 * volume, and this throws a `transient` error until the guest releases it or is powered off.
 */
export async function unplug(
  host: QemuHost,
  machineId: string,
  { id: volumeId, leaving }: VolumeRecord,
): Promise<void> {
  const checksMax = leaving ? 1 : UNPLUG_CHECKS;
  for (let checks = 0; checks < checksMax; checks++) {
    const isReleased = await withQmp(host, machineId, async (qmp) => {
      if (!qmp) return true;
      if (!(await requestUnplug(qmp, volumeId))) return false;
      await closeNode(qmp, nodeName(volumeId));
      return true;
    });
    if (isReleased) return;
  }
  throw new ComputeError('transient', 'the guest does not release the volume');
}

async function requestUnplug(qmp: Qmp, volumeId: string): Promise<boolean> {
  const id = deviceId(volumeId);
  if (!(await hasDevice(qmp, volumeId))) return true;
  try {
    await qmp.execute('device_del', { id });
  } catch (error) {
    // The request is already pending, and QEMU rejects a repetition for some seconds.
    if (!(error instanceof QmpRefusedError)) throw error;
  }
  const deletedEvent = await qmp.waitForEvent(
    ({ event, data }) => event === 'DEVICE_DELETED' && data?.device === id,
    UNPLUG_CHECK_MS,
  );
  return deletedEvent !== undefined || !(await hasDevice(qmp, volumeId));
}

async function hasDevice(qmp: Qmp, volumeId: string): Promise<boolean> {
  const devices = await qmp.execute<{ readonly name: string }[]>('qom-list', { path: '/machine/peripheral' });
  return devices.some(({ name }) => name === deviceId(volumeId));
}

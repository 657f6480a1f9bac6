/** Volumes in a QEMU that runs. Each step looks first whether it is done: whoever did half of it may have been killed. */
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { volumeSerial } from '../names.ts';
import { Qmp, QmpRefusedError } from '../qmp.ts';
import { type BlockNode, closeNode, listBlockNodes, openNode } from './block-nodes.ts';
import { GIB, requireSpace } from './space.ts';
import type { VolumeRecord } from './volume-record.ts';

/** PCI slots from here on are volumes', by the letter of the device, so that guests find them in this order. */
const FIRST_SLOT = 0x10;
export const VOLUME_SLOTS = 15;

const nodeName = (volumeId: string) => `vol-${volumeSerial(volumeId)}`;
const deviceId = (volumeId: string) => `dev-${nodeName(volumeId)}`;

/** The PCI slot of a device from /dev/vdb to /dev/vdp; a machine has no more, and refuses them. */
export function pciSlot(device: string): number {
  const letter = /^\/dev\/vd([b-z])$/.exec(device)?.[1] ?? 'z';
  const index = letter.charCodeAt(0) - 'b'.charCodeAt(0);
  if (index >= VOLUME_SLOTS)
    throw new ComputeError('refused', `a machine takes ${VOLUME_SLOTS} volumes, to /dev/vdp`);
  return FIRST_SLOT + index;
}

/** The volume as QEMU has it open; undefined when it has not. */
export async function findVolumeNode(qmp: Qmp, volumeId: string): Promise<BlockNode | undefined> {
  return (await listBlockNodes(qmp)).find((node) => node['node-name'] === nodeName(volumeId));
}

/** Makes the guest have it; the caller has made its file. A guest that shut down finds it when it is switched on. */
export async function plug(host: QemuHost, qmp: Qmp, { id, device }: VolumeRecord): Promise<void> {
  if (device === null) throw new Error('a volume that is attached to nothing has no slot');
  const { status } = await qmp.execute<{ readonly status: string }>('query-status');
  if (status === 'shutdown') return;
  if (!(await findVolumeNode(qmp, id))) {
    await openNode(qmp, { name: nodeName(id), path: host.layout.volume(id, 'qcow2') });
  }
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

/** Makes the open volume as large as its record says, while the guest uses it. */
export async function growNode(
  host: QemuHost,
  qmp: Qmp,
  record: VolumeRecord,
  node: BlockNode,
): Promise<void> {
  const size = record.sizeGb * GIB;
  const moreBytes = size - node.image['virtual-size'];
  if (moreBytes <= 0) return;
  await requireSpace(host.layout.volumes(), moreBytes);
  await qmp.execute('block_resize', { 'node-name': nodeName(record.id), size });
}

/**
 * How often a guest is asked whether it has let go, and how long each time: others want to speak to QEMU meanwhile. One that
 * was asked before is asked once: it had its time, and others wait for the machine.
 */
const UNPLUG_CHECKS = 5;
const UNPLUG_CHECK_MS = 2_000;

/**
 * Makes the guest not have it any more. It must agree: one that does not listen (it is still booting, or knows nothing of
 * hot-plug) keeps it, and this is `transient`, until it does or is switched off.
 */
export async function unplug(
  host: QemuHost,
  machineId: string,
  { id: volumeId, leaving }: VolumeRecord,
): Promise<void> {
  const checksMax = leaving ? 1 : UNPLUG_CHECKS;
  for (let checks = 0; checks < checksMax; checks++) {
    const qmp = await Qmp.open(host.layout.runtimeFile(machineId, 'qmp'));
    if (!qmp) return;
    try {
      if (await requestUnplug(qmp, volumeId)) return await closeNode(qmp, nodeName(volumeId));
    } finally {
      qmp.close();
    }
  }
  throw new ComputeError('transient', 'the guest does not let go of the volume');
}

async function requestUnplug(qmp: Qmp, volumeId: string): Promise<boolean> {
  const id = deviceId(volumeId);
  if (!(await hasDevice(qmp, volumeId))) return true;
  try {
    await qmp.execute('device_del', { id });
  } catch (error) {
    // It was asked already, and asking again is not possible for some seconds.
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

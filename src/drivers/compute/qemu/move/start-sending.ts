/** Starts to copy a machine to the host that expects it. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { ComputeError } from '../../../../ports/compute.ts';
import type { Move, MoveEndpoint } from '../../../../ports/moves.ts';
import { openPeerStream } from '../../host/peer.ts';
import { exists } from '../files.ts';
import type { QemuHost } from '../host.ts';
import { seedPath } from '../machine/disks.ts';
import { hasIsoDrive } from '../machine/iso-drive.ts';
import { readBackingImage } from '../machine/isolation.ts';
import { bootName, readQemuState } from '../machine/qemu-state.ts';
import { launchForMove } from '../machine/start.ts';
import { withQmp } from '../qmp.ts';
import type { MachineRecord } from '../record.ts';
import { listCopies } from '../storage/background-copy.ts';
import { listBlockNodes } from '../storage/block-nodes.ts';
import { nodeName } from '../storage/hot-plug.ts';
import { listSnapshotsInProgress } from '../storage/snapshot-record.ts';
import { listVolumesOf } from '../storage/volume-record.ts';
import { plugVolumes } from '../storage/volumes.ts';
import { endCopies, hasOtherJobs, startCopy } from './block-copy.ts';
import { openChannel } from './channel.ts';
import { ask, toldState } from './messages.ts';
import { nodesOf } from './receive.ts';

export async function startSending(
  host: QemuHost,
  record: MachineRecord,
  { move, to }: { readonly move: Move; readonly to: MoveEndpoint },
): Promise<void> {
  await requireMovable(host, record);
  if (record.power === 'off') await launchCopier(host, record);
  const volumes = await listVolumesOf(host, move.machineId);
  const sizes = await readSizes(host, record);
  const bytesOf = (node: string) => {
    const bytes = sizes.get(node);
    if (bytes === undefined) throw new ComputeError('transient', 'a disk of the machine is not open');
    return bytes;
  };
  const seed = seedPath(host, move.machineId, record.generation);
  const image = record.spec.sharedDisk
    ? null
    : await readBackingImage(host, host.layout.disk(move.machineId, record.generation));
  const stream = await openPeerStream(to.address, move, 'prepare');
  const isoDrive = await withQmp(host, move.machineId, async (qmp) => qmp && (await hasIsoDrive(qmp)));
  const { hasBase, isoDrive: isKnown } = await ask(stream, {
    generation: record.generation,
    diskBytes: bytesOf('disk'),
    base: image === null ? null : basename(image, '.qcow2'),
    volumes: volumes.map(({ id }) => ({ id, bytes: bytesOf(nodeName(id)) })),
    seed: (await exists(seed)) ? (await readFile(seed)).toString('base64') : null,
    ...(isoDrive ? { isoDrive } : {}),
    state: toldState(record),
  });
  // Its guest would lose a device.
  if (isoDrive && !isKnown && record.power === 'on')
    throw new ComputeError('refused', 'the other host knows no drives for ISO images: update Skerry there');
  await openChannel(host, move, to.address);
  const socket = host.layout.runtimeFile(move.machineId, 'move-disks');
  await withQmp(host, move.machineId, async (qmp) => {
    if (!qmp) throw new ComputeError('transient', 'the QEMU of the machine ended');
    await endCopies(qmp);
    for (const node of nodesOf(record.spec, volumes))
      await startCopy(qmp, node, { socket, hasBase: node === 'disk' && hasBase });
  });
}

/** A move that makes no sense now: the operator reads why, and the machine stays as it is. */
async function requireMovable(host: QemuHost, record: MachineRecord): Promise<void> {
  const { id, image } = record.spec;
  const volumes = await listVolumesOf(host, id);
  const reasons: readonly (readonly [boolean, string])[] = [
    [record.installingSince !== null, 'the machine is being installed'],
    [record.rescue !== null, 'the machine runs its rescue system'],
    [image.iso !== null, "the machine boots from a customer's ISO image, which stays on its host"],
    [record.drive !== undefined, "a customer's ISO image is inserted, which stays on its host"],
    [(await listSnapshotsInProgress(host, id)).length > 0, 'a snapshot of the machine is being made'],
    [(await listCopies(host.layout.machine(id))).length > 0, 'a snapshot is being restored'],
    [volumes.some(({ leaving }) => leaving), 'a volume is being detached'],
  ];
  const [, reason] = reasons.find(([applies]) => applies) ?? [];
  if (reason !== undefined) throw new ComputeError('refused', reason);
  if (record.power === 'off') return;
  const qemu = await readQemuState(host, id);
  if (qemu.state !== 'on' || qemu.name !== bootName(record) || qemu.status !== 'running')
    throw new ComputeError('refused', 'the guest does not run normally');
  const isBusy = await withQmp(host, id, async (qmp) => qmp !== undefined && (await hasOtherJobs(qmp)));
  if (isBusy) throw new ComputeError('refused', 'QEMU is busy with another copy of the disk');
}

/** Starts a QEMU whose guest never runs, with the disks of a stopped machine. */
async function launchCopier(host: QemuHost, record: MachineRecord): Promise<void> {
  const { id } = record.spec;
  const plugDisks = (qmp: Parameters<typeof plugVolumes>[2]) => plugVolumes(host, id, qmp);
  const qmp = await launchForMove(host, record, { isIncoming: false, plugDisks });
  qmp.close();
}

/** Returns the size of each disk by the name of its node. */
async function readSizes(host: QemuHost, { spec }: MachineRecord): Promise<ReadonlyMap<string, number>> {
  return await withQmp(host, spec.id, async (qmp) => {
    const nodes = qmp ? await listBlockNodes(qmp) : [];
    return new Map(nodes.map((node) => [node['node-name'], node.image['virtual-size']]));
  });
}

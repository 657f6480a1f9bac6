/**
 * Runs virtual machines on this host with QEMU. No state lives in this process: the desired state of a
 * machine is a file next to its disks, and QEMU reports the actual state. Machines outlive the service, and
 * any process can manage them.
 */
import type { BaseImages, ComputeDriver } from '../../../ports/compute.ts';
import type { SnapshotCopies } from '../../../ports/copies.ts';
import type { HostFiles } from '../../../ports/host-files.ts';
import { isDiskMove, type MachineMoves } from '../../../ports/moves.ts';
import type { PeerTransfers } from '../host/peer-listener.ts';
import { QemuCopies } from './copies/copies.ts';
import { examineHost } from './examine/host.ts';
import { readFacts } from './facts.ts';
import type { QemuOptions } from './host.ts';
import { QemuHost } from './host.ts';
import { QemuImages } from './images/images.ts';
import { ReceivedFiles } from './images/received-files.ts';
import { openConsole, powerMachine, rescueMachine } from './machine/control.ts';
import {
  ensureMachine,
  rebuildMachine,
  removeMachine,
  restoreMachine,
  reviveMachine,
} from './machine/install.ts';
import { changeIso } from './machine/iso-drive.ts';
import { observeMachines } from './machine/observe.ts';
import { resizeMachine } from './machine/resize.ts';
import { Supervisor } from './machine/supervise.ts';
import { PacketMeter } from './metrics/packets.ts';
import { sampleMachines, sampleMinutes } from './metrics/sample.ts';
import { forgetSent, keepMachine } from './move/abandon.ts';
import { forgetIncomingDisk, receiveDisk } from './move/disk/receive-disk.ts';
import { DiskSender } from './move/disk/send-disk.ts';
import { takeOverDisk } from './move/disk/take-over-disk.ts';
import { forgetIncoming, receiveMachine } from './move/receive.ts';
import { sendMachine } from './move/send.ts';
import { takeOverMachine } from './move/take-over.ts';
import { moveTransfers } from './move/transfers.ts';
import { setFilter, setTraffic } from './net/network.ts';
import { listRecords } from './record.ts';
import { VOLUME_SLOTS } from './storage/hot-plug.ts';
import { seizeSharedDisk } from './storage/shared-disks.ts';
import { takeSnapshot } from './storage/snapshots.ts';
import { attachVolume, detachVolume, growVolume, removeVolume, seizeVolume } from './storage/volumes.ts';

export interface QemuCompute extends ComputeDriver {
  readonly images: BaseImages;
  readonly files: HostFiles;
  readonly moves: MachineMoves;
  readonly copies: SnapshotCopies;
  /** The moves to this host, for the listener that takes their streams. */
  readonly transfers: PeerTransfers;
}

export function openQemuCompute(options: QemuOptions): QemuCompute {
  const host = new QemuHost(options);
  const supervisor = new Supervisor(host);
  const images = new QemuImages(host);
  const files = new ReceivedFiles(host, images);
  const disks = new DiskSender(host);
  const copies = new QemuCopies(host);
  const packets = new PacketMeter(host);
  return {
    name: 'qemu',
    capabilities: {
      vps: { volumes: VOLUME_SLOTS, snapshots: true, filter: true, console: true, customImages: true },
      dedicated: null,
    },
    hosts: options.hosts,
    images,
    files,
    moves: {
      receive: (move, machine) => receiveMachine(host, move, machine),
      receiveDisk: (move, disk) => receiveDisk(host, move, disk),
      send: (move, to) => (isDiskMove(move) ? disks.send(move, to) : sendMachine(host, move, to)),
      takeOver: (move) => (isDiskMove(move) ? takeOverDisk(host, move) : takeOverMachine(host, move)),
      keep: (move) => (isDiskMove(move) ? disks.keep(move) : keepMachine(host, move)),
      forget: async (move, side) => {
        if (isDiskMove(move) && side === 'from') await copies.end(move.disk.id);
        if (isDiskMove(move)) return side === 'from' ? disks.forget(move) : forgetIncomingDisk(host, move);
        return side === 'from' ? forgetSent(host, move) : forgetIncoming(host, move);
      },
    },
    copies,
    transfers: moveTransfers(host),
    seizeVolume: options.ceph ? (volumeId) => seizeVolume(host, volumeId) : null,
    seizeDisk: options.ceph ? (machineId) => seizeSharedDisk(host, machineId) : null,
    revive: options.ceph ? (spec) => reviveMachine(host, spec) : null,
    ensure: (spec) => ensureMachine(host, spec),
    remove: (id) => removeMachine(host, id),
    power: (id, action) => powerMachine(host, id, action),
    observe: (ids) => observeMachines(host, ids),
    rebuild: (spec) => rebuildMachine(host, spec),
    restore: (spec, snapshotId) => restoreMachine(host, spec, snapshotId),
    resize: (id, size) => resizeMachine(host, id, size),
    setIso: (id, drive) => changeIso(host, id, drive),
    rescue: (id, access) => rescueMachine(host, id, access),
    console: (id) => openConsole(host, id),
    sample: (ids, since) => sampleMachines(host, ids, since),
    sampleMinutes: (ids, since) => sampleMinutes(host, ids, since),
    samplePackets: (ids) => packets.sample(ids),
    attach: (machineId, volume) => attachVolume(host, machineId, volume),
    detach: (volumeId) => detachVolume(host, volumeId),
    grow: (volumeId, sizeGb) => growVolume(host, volumeId, sizeGb),
    removeVolume: (volumeId) => removeVolume(host, volumeId),
    snapshot: (machineId, snapshotId) => takeSnapshot(host, machineId, snapshotId),
    removeSnapshot: (snapshotId) => copies.removeSnapshot(snapshotId),
    filter: (id, filter) => setFilter(host, id, filter),
    traffic: (id, traffic) => setTraffic(host, id, traffic),
    list: () => listRecords(host.layout),
    readFacts: () => readFacts(host),
    examine: (promised) => examineHost(host, promised),
    superviseMachines: async (blocks) => {
      await files.deleteStale();
      return options.keepsOnlyImages ? [] : await supervisor.runRound(blocks);
    },
  };
}

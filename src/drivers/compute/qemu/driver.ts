/**
 * Runs virtual machines on this host with QEMU. No state lives in this process: the desired state of a
 * machine is a file next to its disks, and QEMU reports the actual state. Machines outlive the service, and
 * any process can manage them.
 */
import type { Duplex } from 'node:stream';
import type {
  BaseImages,
  ComputeDriver,
  ExpectedResources,
  HostFinding,
  HourSample,
  MachineSpec,
  MachineState,
  PowerAction,
  RescueAccess,
  SnapshotState,
  SupervisionResult,
  Traffic,
  VolumeSpec,
} from '../../../ports/compute.ts';
import type { Filter } from '../../../ports/network.ts';
import { examineHost } from './examine/host.ts';
import type { QemuOptions } from './host.ts';
import { QemuHost } from './host.ts';
import { QemuImages } from './images/images.ts';
import { openConsole, powerMachine, rescueMachine } from './machine/control.ts';
import { ensureMachine, rebuildMachine, removeMachine, restoreMachine } from './machine/install.ts';
import { observeMachines } from './machine/observe.ts';
import { Supervisor } from './machine/supervise.ts';
import { sampleMachines } from './metrics/sample.ts';
import { setFilter, setTraffic } from './net/network.ts';
import { listRecords } from './record.ts';
import { VOLUME_SLOTS } from './storage/hot-plug.ts';
import { removeSnapshot, takeSnapshot } from './storage/snapshots.ts';
import { attachVolume, detachVolume, growVolume, removeVolume } from './storage/volumes.ts';

export class QemuCompute implements ComputeDriver {
  readonly name = 'qemu';
  readonly capabilities = {
    vps: { volumes: VOLUME_SLOTS, snapshots: true, filter: true, console: true, customImages: true },
    dedicated: null,
  };
  readonly hosts: readonly string[];
  readonly images: BaseImages;
  readonly #host: QemuHost;
  readonly #supervisor: Supervisor;

  constructor(options: QemuOptions) {
    this.hosts = options.hosts;
    this.#host = new QemuHost(options);
    this.images = new QemuImages(this.#host);
    this.#supervisor = new Supervisor(this.#host);
  }

  ensure(spec: MachineSpec): Promise<void> {
    return ensureMachine(this.#host, spec);
  }
  remove(id: string): Promise<void> {
    return removeMachine(this.#host, id);
  }
  power(id: string, action: PowerAction): Promise<void> {
    return powerMachine(this.#host, id, action);
  }
  observe(ids: readonly string[]): Promise<MachineState[]> {
    return observeMachines(this.#host, ids);
  }
  rebuild(spec: MachineSpec): Promise<void> {
    return rebuildMachine(this.#host, spec);
  }
  restore(spec: MachineSpec, snapshotId: string): Promise<void> {
    return restoreMachine(this.#host, spec, snapshotId);
  }
  rescue(id: string, access: RescueAccess): Promise<void> {
    return rescueMachine(this.#host, id, access);
  }
  console(id: string): Promise<Duplex> {
    return openConsole(this.#host, id);
  }
  sample(ids: readonly string[], since: Date): Promise<HourSample[]> {
    return sampleMachines(this.#host, ids, since);
  }
  attach(machineId: string, volume: VolumeSpec): Promise<void> {
    return attachVolume(this.#host, machineId, volume);
  }
  detach(volumeId: string): Promise<void> {
    return detachVolume(this.#host, volumeId);
  }
  grow(volumeId: string, sizeGb: number): Promise<void> {
    return growVolume(this.#host, volumeId, sizeGb);
  }
  removeVolume(volumeId: string): Promise<void> {
    return removeVolume(this.#host, volumeId);
  }
  snapshot(machineId: string, snapshotId: string): Promise<SnapshotState> {
    return takeSnapshot(this.#host, machineId, snapshotId);
  }
  removeSnapshot(snapshotId: string): Promise<void> {
    return removeSnapshot(this.#host, snapshotId);
  }
  filter(id: string, filter: Filter | null): Promise<void> {
    return setFilter(this.#host, id, filter);
  }
  traffic(id: string, traffic: Traffic): Promise<void> {
    return setTraffic(this.#host, id, traffic);
  }
  list(): Promise<string[]> {
    return listRecords(this.#host.layout);
  }
  examine(promised: ExpectedResources): AsyncIterable<HostFinding> {
    return examineHost(this.#host, promised, (options) => new QemuCompute(options));
  }
  superviseMachines(): Promise<SupervisionResult[]> {
    return this.#supervisor.runRound();
  }
}

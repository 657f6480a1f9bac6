/**
 * The compute port: the interface to the software that runs machines. Every method is an *ensure*: calling it
 * again after a crash has the same result. A call that timed out may still take effect later, so a driver
 * runs the calls for one machine in the order they arrived. A driver makes no decisions about money or
 * customers.
 */
import type { Duplex } from 'node:stream';
import type { BaseImages } from './base-images.ts';
import type { ComputeFault } from './compute-fault.ts';
import type { SnapshotCopies } from './copies.ts';
import type { HostFacts } from './host-facts.ts';
import type { FileToFollow, FileToSend, HostFiles } from './host-files.ts';
import type { IsoDrive, MachineSpec, VolumeSpec } from './machine-spec.ts';
import type { MachineMoves } from './moves.ts';
import type { AddressFamily, Filter, PacketSample } from './network.ts';

export type { BaseImage, BaseImages, StoredDisk } from './base-images.ts';
export type { IsoDrive, MachineImage, MachineSpec, VolumeSpec } from './machine-spec.ts';

/**
 * `acpi` asks the guest to shut down; a guest that ignores it stays on. `on` applies to a machine that is
 * off, `reset` to a machine that is on. Both boot the machine's own disk and so leave a rescue system.
 */
export type PowerAction = 'on' | 'off' | 'acpi' | 'reset';

/**
 * The observed state. `absent`: the host responds and doesn't have the machine; `unknown`: its host doesn't
 * respond.
 */
export interface MachineState {
  readonly id: string;
  readonly state: 'absent' | 'unknown' | 'installing' | 'running' | 'stopped';
  readonly host: string | null;
  /** The generation of the disk it runs on; null if none is visible. */
  readonly generation: number | null;
  /** Whether it runs the rescue system; false while it is off. */
  readonly rescue: boolean;
  /** Set if it is `stopped` but should be on: its process died without a power-off. */
  readonly crashed?: true;
}

/** The size of a machine. */
export type MachineSize = Pick<MachineSpec, 'cpu' | 'ramMb' | 'diskGb'>;

/** The credentials for the rescue system. */
export interface RescueAccess {
  /** crypt(3) hash of root's one-time password. */
  readonly passwordHash: string;
}

/** `failed` is final; the caller asks again while it is `creating`. */
export interface SnapshotState {
  readonly state: 'creating' | 'ready' | 'failed';
  /** GiB after deduplication; 0 until ready. */
  readonly sizeGb: number;
}

/**
 * Averages over one hour, as far as it was observed. Rates are in bytes per second over the whole hour (or
 * the part that has passed), however long the machine was on, so that they add up to the total traffic.
 */
export interface HourSample {
  readonly id: string;
  /** Start of the hour. */
  readonly hour: Date;
  readonly cpuPct: number;
  readonly ramMb: number;
  readonly diskReadBps: number;
  readonly diskWriteBps: number;
  readonly netInBps: number;
  readonly netOutBps: number;
}

/** Averages over one minute that has ended. Rates are in bytes per second. */
export interface MinuteSample extends Omit<HourSample, 'hour'> {
  /** Start of the minute. */
  readonly minute: Date;
}

/** Optional features of a hardware category; a missing one is refused as `unavailable`. */
export interface Capabilities {
  /** Maximum volumes per machine; null: unlimited. */
  readonly volumes: number | null;
  readonly snapshots: boolean;
  readonly filter: boolean;
  readonly console: boolean;
  readonly customImages: boolean;
}

/** Traffic limits, in addition to the packet filter. */
export interface Traffic {
  /** Bits per second, inbound and outbound; null: as fast as the host can. */
  readonly bitsPerS: number | null;
  /** Whether the machine may reach external mail servers (TCP port 25). */
  readonly mail: boolean;
  /**
   * Families whose packets are dropped on the host, in both directions. Absent, as a service of the previous
   * version leaves it: unchanged.
   */
  readonly blackholed?: readonly AddressFamily[];
}

/**
 * The outcome for one machine: it was restarted, restarting it failed (`failed`), or its guest shut itself
 * down (`off`, reported once). `message` contains no addresses.
 */
export interface SupervisionResult {
  readonly id: string;
  readonly outcome: 'restarted' | 'failed' | 'off';
  /** Plain text for the operator. */
  readonly message: string;
}

/** The resources that the inventory assigns to servers on this host, under all of the host's names. */
export interface ExpectedResources {
  readonly ramMb: number;
  readonly diskGb: number;
  /** One unassigned address of each block in its regions. */
  readonly unusedAddresses: readonly string[];
}

/** One result of a host check. `fail`: it does not work; `warn`: needs attention soon; `note`: it works. */
export interface HostFinding {
  readonly level: 'ok' | 'note' | 'warn' | 'fail';
  readonly subject: string;
  /** Plain text with the fix. No addresses. */
  readonly message: string;
}

export class ComputeError extends Error {
  readonly fault: ComputeFault;
  constructor(fault: ComputeFault, message: string) {
    super(message);
    this.name = 'ComputeError';
    this.fault = fault;
  }
}

/** The host lacks the disk or ISO image that the call needs. */
export class MissingFile extends ComputeError {
  constructor(message: string) {
    super('refused', message);
  }
}

/** The bytes that a host received are not those of the file, and were deleted. */
export class DamagedFile extends ComputeError {
  constructor(message: string) {
    super('refused', message);
  }
}

export interface ComputeDriver {
  readonly name: string;
  /** Null: the driver has no hardware of that category. */
  readonly capabilities: Readonly<Record<'vps' | 'dedicated', Capabilities | null>>;
  /** The names of the driver's hosts; null if the caller supplies them. */
  readonly hosts: readonly string[] | null;
  /** Null if images need no import. */
  readonly images: BaseImages | null;
  /** The files that other machines send to this host. Absent if it needs none. */
  readonly files?: HostFiles;
  /** Sends a file to a host on another machine. Throws `transient` if another caller is sending it. */
  sendFile?(backend: string, file: FileToSend): Promise<void>;
  /**
   * Lets one backend fetch a file from another one. Throws `DamagedFile` if other bytes arrived. After any
   * failure the file can be sent instead: it continues with the bytes that arrived.
   */
  passFile?(file: FileToFollow, backends: { readonly from: string; readonly to: string }): Promise<void>;
  /** Null if the driver cannot move machines between hosts. */
  readonly moves: MachineMoves | null;
  /** Absent if the driver cannot send snapshots to a store of files. */
  readonly copies?: SnapshotCopies;
  /**
   * Takes a shared volume from a host that is lost: fences that host, so that nothing on it can write to the
   * storage any more, and then ends the attachment. `host` carries it out: another one with the same storage,
   * which answers for the volume from then on. Null if the driver has no shared storage.
   */
  readonly seizeVolume: ((volumeId: string, host: string) => Promise<void>) | null;
  /**
   * Takes the shared disk of a machine from a host that is lost, in the same way: `host` answers for the
   * machine from then on, although nothing runs. Null if the driver has no shared storage.
   */
  readonly seizeDisk: ((machineId: string, host: string) => Promise<void>) | null;
  /**
   * Creates the machine on its host with the shared disk of the previous generation, which was seized, as the
   * disk of `spec.generation`, and powers it on. Its system keeps its host name, keys, and passwords. The
   * same id twice is one machine. Null if the driver has no shared storage.
   */
  readonly revive: ((spec: MachineSpec) => Promise<void>) | null;
  /**
   * Creates the machine on its host and starts its install. The same id twice is one machine. Refuses a
   * snapshot of the spec as `restore` does.
   */
  ensure(spec: MachineSpec): Promise<void>;
  /**
   * Deletes the machine and its disks on any host, detaching its volumes first. Succeeds if it doesn't exist.
   */
  remove(id: string): Promise<void>;
  /** `on` and `off` also stop any rebuild or restore that has not switched the machine over yet. */
  power(id: string, action: PowerAction): Promise<void>;
  /** Returns the state of each machine, in the order of `ids`. */
  observe(ids: readonly string[]): Promise<MachineState[]>;
  /**
   * Starts an install on disk generation `spec.generation`, unless the machine already uses it, and powers
   * the machine on. Deletes the previous disk after the install. Refuses a generation older than the
   * machine's own.
   */
  rebuild(spec: MachineSpec): Promise<void>;
  /**
   * Like `rebuild`, from a snapshot: host name, image, keys, and passwords come from the snapshot, addresses
   * from `spec`. Refuses a snapshot that is absent, not ready, or larger than the disk, unless the machine
   * already uses the generation.
   */
  restore(spec: MachineSpec, snapshotId: string): Promise<void>;
  /**
   * Enlarges the disk at once, also of a machine that is on, and changes CPUs and memory from the next
   * power-on. A disk never shrinks: returns its size. Throws `host`, without a change, if the host has no
   * room.
   */
  resize(id: string, size: MachineSize): Promise<{ readonly diskGb: number }>;
  /**
   * Changes the medium in the drive at once, also of a machine that is on, and what it boots first from its
   * next boot on. A rebuild or restore keeps the medium and boots the disk first. While the drive has one,
   * the machine cannot be moved. The rescue system boots in any case.
   */
  setIso(id: string, drive: IsoDrive): Promise<void>;
  /** Boots the rescue system from any state, unless the machine already runs it with this password. */
  rescue(id: string, access: RescueAccess): Promise<void>;
  /**
   * Opens an RFB (VNC) stream of the machine's screen; the caller closes it. The server speaks version 3.7 or
   * later and offers only security type None, because the caller has already authorized access. Refuses a
   * machine that is off.
   */
  console(id: string): Promise<Duplex>;
  /**
   * Returns hourly averages per machine from the hour of `since`, at most 31 days, including the current
   * hour. Skips hours in which a machine was off, absent machines, and hosts that don't respond.
   */
  sample(ids: readonly string[], since: Date): Promise<HourSample[]>;
  /**
   * Returns averages per machine of the complete minutes from `since` on, as far back as the host stores
   * them: half an hour at least. Skips minutes in which a machine was off or not read, absent machines, and
   * hosts that don't respond.
   */
  sampleMinutes(ids: readonly string[], since: Date): Promise<MinuteSample[]>;
  /**
   * Returns how many packets pass per second, as a mean since the previous call or over a second. Skips
   * absent machines, those that just started, and hosts that don't respond.
   */
  samplePackets(ids: readonly string[]): Promise<PacketSample[]>;
  /** Ensures that the volume exists, is at least this large, and is attached only to this machine. */
  attach(machineId: string, volume: VolumeSpec): Promise<void>;
  /** Detaches the volume. Succeeds if it doesn't exist. */
  detach(volumeId: string): Promise<void>;
  /** Grows the volume online to at least this size. Succeeds if it doesn't exist: it has no disk yet. */
  grow(volumeId: string, sizeGb: number): Promise<void>;
  /** Deletes the volume and its data, detaching it first if necessary. */
  removeVolume(volumeId: string): Promise<void>;
  /**
   * Starts a crash-consistent snapshot of the machine, or returns its progress. The snapshot survives the
   * machine. Refuses a machine during an install.
   */
  snapshot(machineId: string, snapshotId: string): Promise<SnapshotState>;
  /** Deletes the snapshot, ready or not. */
  removeSnapshot(snapshotId: string): Promise<void>;
  /** Replaces the packet filter outside the guest; null removes it. It persists across rebuilds. */
  filter(id: string, filter: Filter | null): Promise<void>;
  /**
   * Sets the limits outside the guest. By default a machine has no rate limit and no access to mail servers.
   */
  traffic(id: string, traffic: Traffic): Promise<void>;
  /** Returns the ids of all machines on the driver's hosts, including any that the service doesn't know. */
  list(): Promise<string[]>;
  /**
   * Powers on machines that should be on but aren't because their process died or their host restarted. A
   * machine that its guest shut down stays off. Safe to run at any time, in any process. `blocks` are all
   * CIDR blocks that machines have their addresses from, on any host; left out: those of the last call.
   */
  superviseMachines(blocks?: readonly string[]): Promise<SupervisionResult[]>;
  /**
   * Returns facts about those of the driver's hosts that respond. Null: the host's version reports none.
   */
  readFacts?(): Promise<readonly HostFacts[] | null>;
  /**
   * Checks everything that the driver needs on the host, one item at a time, and finally boots a test machine
   * from each imported disk.
   */
  examine(expected: ExpectedResources): AsyncIterable<HostFinding>;
}

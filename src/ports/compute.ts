/**
 * The compute port: what Skerry asks of the thing that runs machines. Every verb says *ensure*: it may be called
 * again after a crash, with the same result. A call that was given up may still act later, so a driver carries out
 * the calls for one machine in the order they came. A driver never decides anything about money or customers.
 */
import type { Duplex } from 'node:stream';
import type { Filter, Ipv4Assignment, Ipv6Assignment } from './network.ts';

/** The machine as it should be. `id` is the server's id; the driver keeps it as the machine's name. */
export interface MachineSpec {
  readonly id: string;
  /** The host that must carry it, by the name the operator gave it. */
  readonly host: string;
  /** Which disk: a rebuild or restore makes the next generation, switches to it, then deletes the one before. From 1. */
  readonly generation: number;
  readonly hostname: string;
  readonly cpu: number;
  readonly ramMb: number;
  readonly diskGb: number;
  readonly image: MachineImage;
  readonly ipv4: Ipv4Assignment;
  readonly ipv6: Ipv6Assignment;
  /** OpenSSH public keys. */
  readonly sshKeys: readonly string[];
  /** crypt(3) hash of the root password, or null when only keys may sign in. */
  readonly rootPasswordHash: string | null;
  readonly userData: Uint8Array | null;
}

export interface MachineImage {
  readonly id: string;
  readonly family: string;
  readonly version: string;
  readonly cloudInit: boolean;
  /** A customer's own ISO 9660 file, booted as a CD: the machine counts as `running` at power-on. */
  readonly iso: { readonly path: string; readonly sha256: string } | null;
  /** The imported disk that is installed, by the SHA-256 of its file in hex; null for an ISO, and where a driver needs none. */
  readonly base: string | null;
}

/**
 * `acpi` asks the guest to shut down; one that ignores or cannot hear it stays on. `on` means a machine that is off, `reset` one that
 * is on; both boot its disk and so leave a rescue system.
 */
export type PowerAction = 'on' | 'off' | 'acpi' | 'reset';

/** What the driver sees. `absent`: the host answers and has no such machine; `unknown`: its host does not answer. */
export interface MachineState {
  readonly id: string;
  readonly state: 'absent' | 'unknown' | 'installing' | 'running' | 'stopped';
  readonly host: string | null;
  /** The disk it runs on; null where there is none to see. */
  readonly generation: number | null;
  /** It runs the rescue system; false while it is off. */
  readonly rescue: boolean;
  /** Set where it is `stopped` and should be on: its process died, and nobody switched it off. */
  readonly crashed?: true;
}

/** What signs in to the rescue system. */
export interface RescueAccess {
  /** crypt(3) hash of root's one-time password. */
  readonly passwordHash: string;
}

export interface VolumeSpec {
  readonly id: string;
  readonly sizeGb: number;
  /** Block device path in the guest, e.g. `/dev/vdb`. */
  readonly device: string;
}

/** `failed` is final; `creating` is asked again. */
export interface SnapshotState {
  readonly state: 'creating' | 'ready' | 'failed';
  /** GiB after deduplication; 0 until ready. */
  readonly sizeGb: number;
}

/**
 * Means over one hour, as far as it was seen. Flows are in bytes a second, over the whole hour or what has passed of it,
 * however long the machine was on: so they add up to what flowed.
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

/** What hardware of a category can do; the rest is refused as `unavailable`. Power, install and rescue are always there. */
export interface Capabilities {
  /** How many one machine takes; null: any number. */
  readonly volumes: number | null;
  readonly snapshots: boolean;
  readonly filter: boolean;
  readonly console: boolean;
  readonly customImages: boolean;
}

/** What is let through beside the filter. */
export interface Traffic {
  /** Bits a second that may leave and reach the machine; null: as fast as the host can. */
  readonly bitsPerS: number | null;
  /** Whether it may reach others' mail servers: TCP port 25 outside. */
  readonly mail: boolean;
}

/**
 * What looking after the machines found: each was put right, or could not be (`failed`), or its guest has switched itself
 * off (`off`), which is told once. No addresses in `says`.
 */
export interface SupervisionResult {
  readonly id: string;
  readonly outcome: 'restarted' | 'failed' | 'off';
  /** In plain words, for the operator. */
  readonly message: string;
}

/** What the inventory says that this machine has for servers, under all its names. */
export interface ExpectedResources {
  readonly ramMb: number;
  readonly diskGb: number;
  /** One address of each block in its regions, which no server has. */
  readonly unusedAddresses: readonly string[];
}

/** One result of a host check. `fail`: it does not work; `warn`: needs attention soon; `note`: it works. */
export interface HostFinding {
  readonly level: 'ok' | 'note' | 'warn' | 'fail';
  readonly subject: string;
  /** In plain words, with what to do. No addresses. */
  readonly message: string;
}

/** An imported disk, as the driver keeps it. */
export interface BaseImage {
  /** Of the file that was imported, in hex: what it is called. */
  readonly sha256: string;
  readonly sizeBytes: number;
  /** The smallest disk it fits on. */
  readonly diskGb: number;
}

/** Where machines are installed from disks that the operator imports. */
export interface BaseImages {
  /** Takes a qcow2 or raw disk. A file that is neither, or whose checksum is not the expected one, is `refused`. */
  add(path: string, expected: { readonly sha256: string | null }): Promise<BaseImage>;
  /** The disk that rescue systems boot from now on; `refused` unless it was imported. */
  setRescue(sha256: string): Promise<void>;
  rescue(): Promise<BaseImage | null>;
  list(): Promise<BaseImage[]>;
}

/** Why a call failed: `host` may be cured by another host, `transient` by trying again, `refused` by neither. */
export type ComputeFault = 'host' | 'transient' | 'refused';

export class ComputeError extends Error {
  readonly fault: ComputeFault;
  constructor(fault: ComputeFault, message: string) {
    super(message);
    this.name = 'ComputeError';
    this.fault = fault;
  }
}

export interface ComputeDriver {
  readonly name: string;
  /** Null: it has no hardware of that kind. */
  readonly capabilities: Readonly<Record<'vps' | 'dedicated', Capabilities | null>>;
  /** The names of the hosts that it drives; null where it is told of them. */
  readonly hosts: readonly string[] | null;
  /** Null where images need no import. */
  readonly images: BaseImages | null;
  /** Makes the machine exist on its host and begin its install. The same id twice is one machine. */
  ensure(spec: MachineSpec): Promise<void>;
  /** Makes the machine and its disks not exist, on whichever host it is; its volumes are detached first. An absent one is fine. */
  remove(id: string): Promise<void>;
  /** After `on` and `off` nothing more is done for a rebuild or restore that has not switched the machine over. */
  power(id: string, action: PowerAction): Promise<void>;
  /** The state of each asked machine, in the order asked. */
  observe(ids: readonly string[]): Promise<MachineState[]>;
  /**
   * Begins an install on disk generation `spec.generation`, unless the machine is on that one already, and switches the
   * machine on. The disk before is deleted when the install is done. Refuses a generation before the machine's own.
   */
  rebuild(spec: MachineSpec): Promise<void>;
  /**
   * The same with the snapshot's content: host name, image, keys and passwords are those in it, addresses the spec's.
   * Refuses a snapshot that is absent, not ready or larger than the disk, unless the machine is on the generation already.
   */
  restore(spec: MachineSpec, snapshotId: string): Promise<void>;
  /** Boots the rescue system, whatever the machine does now, unless it runs one with this very password. */
  rescue(id: string, access: RescueAccess): Promise<void>;
  /**
   * A stream that speaks RFB (VNC) for the machine's screen; the caller ends it. Its server greets with version 3.7 or later
   * and offers security None alone: who may see the screen is decided before. Refuses a machine that is off.
   */
  console(id: string): Promise<Duplex>;
  /**
   * Hourly means of each machine from the hour of `since` on, 31 days at most, the running hour included. Hours in which
   * it was not on have none; nor have machines that are absent, or whose host does not answer.
   */
  sample(ids: readonly string[], since: Date): Promise<HourSample[]>;
  /** Makes the volume exist, at least this large, and be attached to this machine and no other. */
  attach(machineId: string, volume: VolumeSpec): Promise<void>;
  /** Makes the volume be attached to nothing. An absent one is fine. */
  detach(volumeId: string): Promise<void>;
  /** Makes the volume at least this large, online. An absent one is fine: it has no disk yet. */
  grow(volumeId: string, sizeGb: number): Promise<void>;
  /** Makes the volume and its content not exist, detached first if need be. */
  removeVolume(volumeId: string): Promise<void>;
  /**
   * Begins a crash-consistent snapshot of the machine, or says how far it is. It survives the machine. Refuses a machine
   * in mid-install.
   */
  snapshot(machineId: string, snapshotId: string): Promise<SnapshotState>;
  /** Makes the snapshot not exist, whether or not it is ready. */
  removeSnapshot(snapshotId: string): Promise<void>;
  /** Makes the packet filter outside the guest be exactly this one; null: none. It stays through rebuilds. */
  filter(id: string, filter: Filter | null): Promise<void>;
  /** Makes the limits outside the guest be these; a machine that was never told has no limit and no way to mail servers. */
  traffic(id: string, traffic: Traffic): Promise<void>;
  /** The ids of all machines on its hosts, the service's and any other. */
  list(): Promise<string[]>;
  /**
   * Looks after the machines: what should be on and is not, because its process died or its host was started again, is
   * switched on. What a guest switched off itself stays off. May run at any time, in any process.
   */
  superviseMachines(): Promise<SupervisionResult[]>;
  /** Looks at everything that the driver needs and the host has, one after another; at last boots a machine of its own from each imported disk. */
  examine(expected: ExpectedResources): AsyncIterable<HostFinding>;
}

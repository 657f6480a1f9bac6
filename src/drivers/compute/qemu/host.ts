/** This machine as a host of guests. Every part of the driver receives it. */
import { createHash } from 'node:crypto';
import type { Logger } from '../../../kernel/logger.ts';
import { type CommandOptions, run } from './command.ts';
import { Layout } from './layout.ts';
import { Locks } from './lock.ts';

/** How the network learns which addresses are here. Null: the blocks are routed to this host as a whole. */
export type Announcement =
  | { readonly by: 'bird'; readonly file: string; readonly socket: string }
  | { readonly by: 'command'; readonly program: string }
  | null;

/** A pool of a Ceph cluster, and the user that may access it. */
export interface CephOptions {
  /** Host names or IP addresses of the monitors, each with its port. */
  readonly monitors: readonly string[];
  readonly pool: string;
  readonly user: string;
  /** Path of a file with the user's key. */
  readonly keyFile: string;
  /** CIDR blocks of the monitors and OSDs. QEMU may connect to nothing else. */
  readonly networks: readonly string[];
}

export interface QemuOptions {
  /** Folder for everything that must survive a restart of this machine. */
  readonly dir: string;
  /** Names of this machine in the inventory. */
  readonly hosts: readonly string[];
  readonly accelerator: 'kvm' | 'tcg';
  /** Network namespace of the guests' interfaces. Null: the default namespace of this machine. */
  readonly netns: string | null;
  /** CIDR blocks of private networks that guests may reach; none by default. */
  readonly allowPrivate?: readonly string[];
  /**
   * Where other hosts reach the streams of moves to this one: host name or IP address, and port. Without a
   * host name, it is that of the backend. Null or omitted: no machine moves to this host.
   */
  readonly peerAddress?: string | null;
  /** Null by default. */
  readonly announcement?: Announcement;
  /** The cluster of shared volumes; none by default. */
  readonly ceph?: CephOptions | null;
  /** It runs no machines, and only keeps the disks of images for hosts: it needs neither QEMU nor root. */
  readonly keepsOnlyImages?: boolean;
  readonly log: Logger;
}

/** How many machines are worked on at once. */
export const MACHINE_CONCURRENCY = 16;

export class QemuHost {
  readonly options: QemuOptions;
  readonly layout: Layout;
  readonly #locks = new Locks();
  readonly #warnings = new Set<string>();

  constructor(options: QemuOptions) {
    this.options = options;
    this.layout = new Layout(options.dir);
  }

  get log(): QemuOptions['log'] {
    return this.options.log;
  }

  warnOnce(message: string): void {
    if (!this.#warnings.has(message)) this.log.warn(message);
    this.#warnings.add(message);
  }

  /** Runs a program in the network namespace of the guests' interfaces. */
  runInNet(program: string, args: readonly string[], options?: CommandOptions): Promise<string> {
    const [first = program, ...rest] = this.inNet(program, args);
    return run(first, rest, options);
  }

  /** Returns the command line for that namespace. `ip netns exec` is no option: it hides cgroups. */
  inNet(program: string, args: readonly string[]): string[] {
    const { netns } = this.options;
    if (netns === null) return [program, ...args];
    return ['nsenter', `--net=/run/netns/${netns}`, program, ...args];
  }

  /** Runs calls for one machine one at a time, across all processes that manage this host. */
  withMachineLock<T>(machineId: string, work: () => Promise<T>): Promise<T> {
    return this.#locks.withLock(this.layout.lock(`machine-${machineId}`), work);
  }

  /** Serializes work on the whole host, such as its packet filter. */
  withHostLock<T>(
    name:
      | ('network' | 'images' | 'volumes' | 'space' | 'metrics' | 'identities' | 'announcement')
      | `incoming-${string}`,
    work: () => Promise<T>,
  ): Promise<T> {
    return this.#locks.withLock(this.layout.lock(name), work);
  }

  /** The host's network interface of the machine: at most 15 characters, the same for an id everywhere. */
  tap(machineId: string): string {
    return `sk${digest(machineId).slice(0, 12)}`;
  }

  /** The MAC address of the guest's network card, from the locally administered range. */
  mac(machineId: string): string {
    const bytes = digest(machineId).slice(12, 20).match(/../g) ?? [];
    return `52:54:${bytes.join(':')}`;
  }
}

/** The serial number of a volume as the guest sees it: virtio-blk allows 20 characters. */
export function volumeSerial(volumeId: string): string {
  return digest(volumeId).slice(0, 20);
}

function digest(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}

/** The desired state of machines and volumes, as the compute port takes it. */
import type { Filter, Ipv4Assignment, Ipv6Assignment } from './network.ts';

/** The desired state of a machine. `id` is the server's id; the driver uses it as the machine's name. */
export interface MachineSpec {
  readonly id: string;
  /** The host that must run it, by the operator's name for the host. */
  readonly host: string;
  /**
   * The disk generation, from 1. A rebuild or restore creates the next generation, switches to it, and then
   * deletes the previous one.
   */
  readonly generation: number;
  readonly hostname: string;
  readonly cpu: number;
  readonly ramMb: number;
  readonly diskGb: number;
  /** Its disk is on the storage that the hosts of its region share, not on the disk of its host. */
  readonly sharedDisk?: true;
  readonly image: MachineImage;
  readonly ipv4: Ipv4Assignment;
  readonly ipv6: Ipv6Assignment;
  /** OpenSSH public keys. */
  readonly sshKeys: readonly string[];
  /** crypt(3) hash of the root password, or null if only SSH keys may sign in. */
  readonly rootPasswordHash: string | null;
  readonly userData: Uint8Array | null;
  /**
   * The packet filter of a new machine, in force before its first packet. Absent: none. A machine that exists
   * keeps its own; `filter` of the driver replaces it.
   */
  readonly filter?: Filter | null;
  /**
   * A new machine gets the disk of this snapshot instead of its image. If the image has cloud-init, the
   * system sets itself up again, with the host name, keys, password, and user data of the spec.
   */
  readonly snapshotId?: string;
  /** A new machine is created without being powered on. Its install begins when it is. */
  readonly createdOff?: true;
}

export interface MachineImage {
  readonly id: string;
  readonly family: string;
  readonly version: string;
  readonly cloudInit: boolean;
  /**
   * A customer's ISO 9660 file, booted as a CD: the machine counts as `running` at power-on. Without a path,
   * it is the file that the host received.
   */
  readonly iso: { readonly path: string | null; readonly sha256: string } | null;
  /** SHA-256 (hex) of the imported disk to install; null for an ISO or a driver that needs no import. */
  readonly base: string | null;
}

/** The drive for a customer's ISO images, next to the drive of the image that it was installed from. */
export interface IsoDrive {
  /** Null: the drive is empty. */
  readonly iso: MachineImage['iso'];
  /** Boots first; the other one follows if it does not boot. */
  readonly boot: 'disk' | 'iso';
}

export interface VolumeSpec {
  readonly id: string;
  readonly sizeGb: number;
  /** Block device path in the guest, e.g. `/dev/vdb`. */
  readonly device: string;
  /** It is on the storage that the hosts of its region share, not on the disk of a host. */
  readonly shared?: true;
}

/**
 * How a machine, a detached volume, or a snapshot moves from one host to another. The database decides which
 * host has it: until the commit that changes its `host_id`, the source, and afterward the target. Neither
 * driver decides.
 *
 *   receive (target) → send (source), until it is `sent` → commit → takeOver (target) → forget (source)
 *   before the commit, instead: keep (source) → forget (target)
 *
 * Every call is an *ensure*, like those of the compute port. A running machine is `sent` when it is paused on
 * both hosts and the target has its memory and disks; until the commit, `keep` resumes it on the source. A
 * volume or snapshot is `sent` when the target has checked its copy, which is never taken for the volume or
 * snapshot before `takeOver`. Nothing else may change it on the source from the first `send` to `keep`.
 */
import type { MachineSpec, VolumeSpec } from './machine-spec.ts';

interface Transfer {
  readonly id: string;
  /** Names of hosts. */
  readonly from: string;
  readonly to: string;
  /** 32 random bytes that only this move uses: both hosts prove with it who they are. */
  readonly key: Uint8Array;
}

export interface Move extends Transfer {
  readonly machineId: string;
}

/** A move of a detached volume, or of a snapshot that is ready. */
export interface DiskMove extends Transfer {
  readonly disk: { readonly kind: 'volume' | 'snapshot'; readonly id: string };
}

export function isDiskMove(move: Move | DiskMove): move is DiskMove {
  return 'disk' in move;
}

/** The target makes room for it. */
export interface MovedMachine {
  /** With the target as its host. */
  readonly spec: MachineSpec;
  /** Attached volumes, which move with it. Volumes on shared storage are only attached. */
  readonly volumes: readonly VolumeSpec[];
}

/** The facts that the target needs of a volume or snapshot besides its content. */
export interface MovedDisk {
  /** GiB of the volume, or of the snapshot as its customer sees it. */
  readonly sizeGb: number;
  /** Null for a volume. */
  readonly snapshot: {
    readonly machineId: string;
    /** Of the disk that was snapshotted, and its size in GiB. */
    readonly generation: number;
    readonly diskGb: number;
  } | null;
}

/** Where the target listens for the source, while the move lasts. */
export interface MoveEndpoint {
  /** Host name or IP address, and port. From a driver without a host name: that of its backend. */
  readonly address: string;
}

/** `failed` is final: the caller gives up the move. `message` is for the operator and has no addresses. */
export interface MoveProgress {
  readonly state: 'copying' | 'sent' | 'failed';
  readonly copiedBytes: number;
  /** May grow while the guest writes. */
  readonly totalBytes: number;
  readonly message: string | null;
}

export interface MachineMoves {
  /** On the target: makes room, and waits for the source. Throws `host` if it has no room. */
  receive(move: Move, machine: MovedMachine): Promise<MoveEndpoint>;
  /** The same for a volume or snapshot, which must not exist on the target. */
  receiveDisk(move: DiskMove, disk: MovedDisk): Promise<MoveEndpoint>;
  /**
   * On the source: starts sending, or reports the progress. A stopped machine stays stopped. Waits up to ten
   * seconds while it is `copying`; ask again at once, as a guest is only handed over during a call. A guest
   * that was `sent` is paused until `takeOver` or `keep`: commit at once.
   */
  send(move: Move | DiskMove, to: MoveEndpoint): Promise<MoveProgress>;
  /** On the target, after the commit: runs the machine if it ran before, with its addresses and filter. */
  takeOver(move: Move | DiskMove): Promise<void>;
  /** On the source: stops sending, and continues as before the move. */
  keep(move: Move | DiskMove): Promise<void>;
  /** On the host that does not have what moved: deletes its copy. Succeeds if there is none. */
  forget(move: Move | DiskMove, host: 'from' | 'to'): Promise<void>;
}

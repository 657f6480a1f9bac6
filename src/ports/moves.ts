/**
 * How a machine moves from one host to another. The database decides which host has the machine: until the
 * commit that changes `servers.host_id`, the source has it, and afterward the target. Neither driver decides.
 *
 *   receive (target) → send (source), until it is `sent` → commit → takeOver (target) → forget (source)
 *   before the commit, instead: keep (source) → forget (target)
 *
 * Every call is an *ensure*, like those of the compute port. A running machine is `sent` when it is paused on
 * both hosts and the target has its memory and disks; until the commit, `keep` resumes it on the source.
 */
import type { MachineSpec, VolumeSpec } from './machine-spec.ts';

export interface Move {
  readonly id: string;
  readonly machineId: string;
  /** Names of hosts. */
  readonly from: string;
  readonly to: string;
  /** 32 random bytes that only this move uses: both hosts prove with it who they are. */
  readonly key: Uint8Array;
}

/** The target makes room for it. */
export interface MovedMachine {
  /** With the target as its host. */
  readonly spec: MachineSpec;
  /** Attached volumes, which move with it. Volumes on shared storage are only attached. */
  readonly volumes: readonly VolumeSpec[];
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
  /**
   * On the source: starts sending, or reports the progress. A stopped machine stays stopped. Waits up to ten
   * seconds while it is `copying`; ask again at once, as a guest is only handed over during a call. A guest
   * that was `sent` is paused until `takeOver` or `keep`: commit at once.
   */
  send(move: Move, to: MoveEndpoint): Promise<MoveProgress>;
  /** On the target, after the commit: runs the machine if it ran before, with its addresses and filter. */
  takeOver(move: Move): Promise<void>;
  /** On the source: stops sending, and continues as before the move. */
  keep(move: Move): Promise<void>;
  /** On the host that does not have the machine: deletes its copy. Succeeds if there is none. */
  forget(move: Move, host: 'from' | 'to'): Promise<void>;
}

/**
 * Backends: other machines that run servers, each with its own compute driver. The inventory lists them and
 * records which of them has which machine, volume, and snapshot.
 */

import type { TlsIdentity } from '../kernel/certificates.ts';
import type { ExpectedResources, HostFinding } from './compute.ts';
import type { ComputeFault } from './compute-fault.ts';
import type { BackendReading } from './host-facts.ts';
import type { WantedFile } from './host-files.ts';

/** The driver of the machine that the service itself runs on. It has no row. */
export const LOCAL_BACKEND = 'local';

export interface Backend {
  readonly name: string;
  readonly kind: 'host';
  /** Host name or IP address, and port. */
  readonly address: string;
  /** SHA-256 (hex) of its latest certificate. */
  readonly fingerprint: string;
  /** The id that its certificates name. Null: it joined before there was an authority, and will get one. */
  readonly identity: string | null;
  /** Whether the authority issued its latest certificate. Otherwise it is self-signed. */
  readonly isIssued: boolean;
  /** Otherwise it is never called: what it has is out of reach. */
  readonly inUse: boolean;
}

/** The certificates with which the control plane proves who it is, and checks hosts. */
export interface ControlPlaneCredentials {
  /** PEM. */
  readonly authority: string;
  /** With a certificate of the authority. */
  readonly issued: TlsIdentity;
  /** For hosts that joined before there was an authority; null if there were none. */
  readonly selfSigned: TlsIdentity | null;
}

export type PlacedKind = 'machine' | 'volume' | 'snapshot';

/**
 * Anything without an entry is on the local backend or nowhere: entries are made before the first call that
 * can create something on another backend, and deleted after the call that removed it.
 */
export interface BackendDirectory {
  /** Returns all backends but the local one. */
  list(): Promise<readonly Backend[]>;
  /** Returns the backend that the inventory's host belongs to; `local` for a host without one. */
  findBackendOfHost(host: string): Promise<string>;
  /** Returns the backend of each id that has an entry. */
  find(kind: PlacedKind, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Makes the entry unless there is one. Returns the backend of the entry. */
  claim(kind: PlacedKind, id: string, backend: string): Promise<string>;
  /** Changes the entry if it names the backend `from`. */
  move(kind: PlacedKind, id: string, step: { readonly from: string; readonly to: string }): Promise<void>;
  /** Deletes the entry if it names this backend. */
  release(kind: PlacedKind, id: string, backend: string): Promise<void>;
  /**
   * Makes the missing entries of machines whose servers are assigned to a host of the backend. A restored
   * database can lack them. Returns the ids.
   */
  adopt(backend: string, machineIds: readonly string[]): Promise<readonly string[]>;
  /** Asks for a file that a server on the backend needs. Returns why sending it failed last, if it did. */
  requestFile(backend: string, file: WantedFile): Promise<ComputeFault | null>;
}

/** The machines that run servers, apart from the servers on them. */
export interface Fleet {
  /** Asks all backends in use side by side: an absent one delays none of the others. */
  readFacts(): Promise<readonly BackendReading[]>;
  /** Runs the checks that a backend makes itself (`ComputeDriver.examine`). */
  examine(backend: string, expected: ExpectedResources): AsyncIterable<HostFinding>;
  /**
   * Gives the backend the certificate that `issue` returns for its request. Its latest one may have expired.
   * If this fails, it presents the former or the new one.
   */
  renew(backend: Backend, issue: (request: string) => Promise<string>): Promise<void>;
}

/**
 * Backends: other machines that run servers, each with its own compute driver. The inventory lists them and
 * records which of them has which machine, volume, and snapshot.
 */

/** The driver of the machine that the service itself runs on. It has no row. */
export const LOCAL_BACKEND = 'local';

export interface Backend {
  readonly name: string;
  readonly kind: 'host';
  /** Host name or IP address, and port. */
  readonly address: string;
  /** SHA-256 (hex) of the only certificate that it may present. */
  readonly fingerprint: string;
}

export type PlacedKind = 'machine' | 'volume' | 'snapshot';

/**
 * Anything without an entry is on the local backend or nowhere: entries are made before the first call that
 * can create something on another backend, and deleted after the call that removed it.
 */
export interface BackendDirectory {
  /** Returns the backends in use, without the local one. */
  list(): Promise<readonly Backend[]>;
  /** Returns the backend that the inventory's host belongs to; `local` for a host without one. */
  findBackendOfHost(host: string): Promise<string>;
  /** Returns the backend of each id that has an entry. */
  find(kind: PlacedKind, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Makes the entry unless there is one. Returns the backend of the entry. */
  claim(kind: PlacedKind, id: string, backend: string): Promise<string>;
  /** Deletes the entry if it names this backend. */
  release(kind: PlacedKind, id: string, backend: string): Promise<void>;
  /**
   * Makes the missing entries of machines whose servers are assigned to a host of the backend. A restored
   * database can lack them. Returns the ids.
   */
  adopt(backend: string, machineIds: readonly string[]): Promise<readonly string[]>;
}

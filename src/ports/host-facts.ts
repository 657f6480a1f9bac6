/** Facts about the machines that run servers: their software, clock, load, memory, and disk. */

export interface HostFacts {
  /** Its name in the inventory. */
  readonly host: string;
  /** Of Skerry. */
  readonly version: string;
  /** The time on its clock. */
  readonly time: Date;
  /** Of the machine, in seconds. */
  readonly uptimeS: number;
  readonly cores: number;
  /** Load average of five minutes, per core: 1 is fully busy. */
  readonly load: number;
  readonly ramMb: number;
  /** Memory that programs can still use, in MiB. */
  readonly ramAvailableMb: number;
  /** Of the file system with the servers' disks, in GiB. */
  readonly diskGb: number;
  readonly diskFreeGb: number;
}

/** `skewMs` is how far its clock is ahead, measured from the middle of the call. */
export type MeasuredFacts = Omit<HostFacts, 'time'> & { readonly skewMs: number };

/** The answer of one backend. */
export interface BackendReading {
  /** Its name; `local` for the machine of the service. */
  readonly backend: string;
  /** Null: it did not answer. */
  readonly answer: {
    /** Version of the protocol; null on the machine of the service. */
    readonly protocol: number | null;
    /** Round trip of the call. */
    readonly latencyMs: number;
    /** Of those of its hosts that answer. Null: its version does not report any. */
    readonly facts: readonly MeasuredFacts[] | null;
  } | null;
}

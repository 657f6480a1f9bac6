/** Reverse DNS: who publishes the host names of addresses. */

/**
 * `unreachable` and `key` pass, or are mended in the settings, and say nothing about a name. `no_zone`: the server holds none that
 * the address's reverse name is in. `refused`: there is one, and it does not take this name.
 */
export type DnsFault = 'unreachable' | 'key' | 'no_zone' | 'refused';

/** What went wrong, in words without an address or a host name. */
export class DnsError extends Error {
  readonly fault: DnsFault;
  constructor(fault: DnsFault, message: string) {
    super(message);
    this.name = 'DnsError';
    this.fault = fault;
  }
}

/** Names of zones are in lower case and end in a dot. Every verb may fail with a DnsError, and may be called again. */
export interface ReverseDns {
  /** Ensures that the address has this name and no other; null: that it has none, which is so where there is no zone. */
  set(address: string, host: string | null): Promise<void>;
  /** The zones of reverse names that there are now. */
  zones(): Promise<readonly string[]>;
  /** Ensures that there is this zone, served by these name servers; false when it was there. */
  createZone(zone: string, nameservers: readonly string[]): Promise<boolean>;
}

/** Reverse DNS: publishes the host names of addresses. */

/**
 * `unreachable` and `key` are temporary or fixed in the settings; they say nothing about the name. `no_zone`:
 * the server has no zone for the address's reverse name. `refused`: it has one, but rejects this name.
 */
export type DnsFault = 'unreachable' | 'key' | 'no_zone' | 'refused';

/** A DNS failure. The message contains no address and no host name. */
export class DnsError extends Error {
  readonly fault: DnsFault;
  constructor(fault: DnsFault, message: string) {
    super(message);
    this.name = 'DnsError';
    this.fault = fault;
  }
}

/** Zone names are lowercase and end in a dot. Every method may throw a DnsError and may be called again. */
export interface ReverseDns {
  /** Ensures that the address has exactly this name; null: none, which succeeds without a zone. */
  set(address: string, host: string | null): Promise<void>;
  /** Lists the current reverse zones. */
  zones(): Promise<readonly string[]>;
  /** Ensures that the zone exists with these name servers; false if it already existed. */
  createZone(zone: string, nameservers: readonly string[]): Promise<boolean>;
}

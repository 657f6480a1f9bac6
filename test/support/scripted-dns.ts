/** An in-memory name server. Tests read its contents and script its faults. */
import { ReverseZones } from '../../src/kernel/reverse-zones.ts';
import { DnsError, type DnsFault, type ReverseDns } from '../../src/ports/dns.ts';

export class ScriptedDns implements ReverseDns {
  /** Address → published name. */
  readonly names = new Map<string, string>();
  readonly zoneNames: string[];
  /** The fault that every call fails with, or null. */
  fault: DnsFault | null = null;
  /** Runs before each name is set. */
  beforeSet: (address: string, host: string | null) => Promise<void> = async () => undefined;

  constructor(zoneNames: readonly string[]) {
    this.zoneNames = [...zoneNames];
  }

  async set(address: string, host: string | null): Promise<void> {
    this.#failIfScripted();
    await this.beforeSet(address, host);
    if (!new ReverseZones(this.zoneNames).find(address)) {
      if (host !== null) throw new DnsError('no_zone', 'no zone');
    } else if (host === null) this.names.delete(address);
    else this.names.set(address, host);
  }

  async zones(): Promise<readonly string[]> {
    this.#failIfScripted();
    return this.zoneNames;
  }

  async createZone(zone: string): Promise<boolean> {
    this.#failIfScripted();
    if (this.zoneNames.includes(zone)) return false;
    this.zoneNames.push(zone);
    return true;
  }

  #failIfScripted(): void {
    if (this.fault !== null) throw new DnsError(this.fault, `scripted: ${this.fault}`);
  }
}

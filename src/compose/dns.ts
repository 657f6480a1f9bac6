import type { Config } from '../config.ts';
import { PowerDns } from '../drivers/dns/powerdns.ts';
import type { ReverseDns } from '../ports/dns.ts';

/** Returns the publisher of reverse DNS, or null if it is not configured. */
export function createReverseDns(config: Config): ReverseDns | null {
  const { SKERRY_DNS_URL: url, SKERRY_DNS_KEY: key } = config;
  return url === null || key === null ? null : new PowerDns({ url, key });
}

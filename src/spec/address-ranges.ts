/**
 * Address ranges with a special use, from IANA's registries and of clouds. No customer's service has an
 * address there. The guests' packet filter and the checks of webhooks and of plain http read this table.
 */
export interface SpecialRange {
  readonly block: string;
  readonly use: string;
  /** Guests do not reach it: it may belong to the operator, to their provider, or to the host. */
  readonly isDeniedToGuests?: true;
  /**
   * A network of the operator, which the internet does not reach: the service may listen there without TLS,
   * and trusts plain http from there. Ranges that no interface may have are not, because they are mistakes.
   */
  readonly isPrivate?: true;
  /** This machine. */
  readonly isLoopback?: true;
}

const DENIED = { isDeniedToGuests: true } as const;
const PRIVATE = { ...DENIED, isPrivate: true } as const;

export const SPECIAL_IPV4: readonly SpecialRange[] = [
  // As the address to listen on, 0.0.0.0 is every address.
  { block: '0.0.0.0/8', use: 'this network', ...DENIED },
  { block: '10.0.0.0/8', use: 'private', ...PRIVATE },
  // Of carriers, and of VPNs such as Tailscale. The internet does not reach either.
  { block: '100.64.0.0/10', use: 'carrier-grade NAT', ...PRIVATE },
  { block: '127.0.0.0/8', use: 'loopback', ...PRIVATE, isLoopback: true },
  { block: '168.63.129.16/32', use: 'metadata of Azure', ...DENIED },
  { block: '169.254.0.0/16', use: 'link-local, and metadata of clouds', ...PRIVATE },
  { block: '172.16.0.0/12', use: 'private', ...PRIVATE },
  { block: '192.0.0.0/24', use: 'protocol assignments', ...DENIED },
  { block: '192.0.2.0/24', use: 'documentation' },
  { block: '192.88.99.0/24', use: '6to4 relays' },
  { block: '192.168.0.0/16', use: 'private', ...PRIVATE },
  { block: '198.18.0.0/15', use: 'benchmarks', ...PRIVATE },
  { block: '198.51.100.0/24', use: 'documentation' },
  { block: '203.0.113.0/24', use: 'documentation' },
  { block: '224.0.0.0/4', use: 'multicast' },
  { block: '240.0.0.0/4', use: 'reserved' },
];

/** The IPv6 addresses of the internet are here, outside the ranges below. */
export const UNICAST_IPV6 = '2000::/3';

/** Link-local addresses of guests never leave their tap, so no rule denies them. */
export const SPECIAL_IPV6: readonly SpecialRange[] = [
  { block: '::1/128', use: 'loopback', isPrivate: true, isLoopback: true },
  { block: '64:ff9b:1::/48', use: 'NAT64 to private networks', ...DENIED },
  { block: '2001::/23', use: 'protocol assignments' },
  { block: '2001:db8::/32', use: 'documentation' },
  { block: '2002::/16', use: '6to4' },
  { block: '3fff::/20', use: 'documentation' },
  { block: 'fc00::/7', use: 'private', ...PRIVATE },
  { block: 'fe80::/10', use: 'link-local', isPrivate: true },
];

/** The prefix behind which NAT64 reaches an IPv4 address: its last 32 bits. */
export const NAT64_PREFIX = '64:ff9b::/96';

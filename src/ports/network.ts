/** Addresses as a machine and a reader see them. */
export interface Ipv4Assignment {
  readonly address: string;
  readonly gateway: string;
}

export interface Ipv6Assignment {
  /** The server's own address, `…::1` of its prefix. */
  readonly address: string;
  /** CIDR text, always a /64. */
  readonly prefix: string;
}

/** A rule of a packet filter. The remote peer is the source of what comes in and the target of what goes out. */
export interface FilterRule {
  readonly direction: 'in' | 'out';
  readonly proto: 'tcp' | 'udp' | 'icmp' | 'any';
  /** Inclusive ranges; empty: every port. */
  readonly ports: readonly (readonly [low: number, high: number])[];
  /** CIDR of the remote peer; a v4 one never matches v6. */
  readonly remote: string;
  readonly action: 'accept' | 'drop' | 'reject';
}

/** Stateful: answers to what was accepted pass. The first matching rule of a direction wins. */
export interface Filter {
  readonly rules: readonly FilterRule[];
  readonly defaultIn: 'accept' | 'drop';
  readonly defaultOut: 'accept' | 'drop';
}

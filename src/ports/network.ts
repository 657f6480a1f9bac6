/** A machine's addresses and packet filter. */
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

/** A packet filter rule. The remote peer is the source of inbound and the destination of outbound packets. */
export interface FilterRule {
  readonly direction: 'in' | 'out';
  readonly proto: 'tcp' | 'udp' | 'icmp' | 'any';
  /** Inclusive ranges; empty: every port. */
  readonly ports: readonly (readonly [low: number, high: number])[];
  /** CIDR of the remote peer; an IPv4 range never matches IPv6. */
  readonly remote: string;
  readonly action: 'accept' | 'drop' | 'reject';
}

/** Stateful: replies to accepted packets pass. The first matching rule of a direction wins. */
export interface Filter {
  readonly rules: readonly FilterRule[];
  readonly defaultIn: 'accept' | 'drop';
  readonly defaultOut: 'accept' | 'drop';
}

export type AddressFamily = 4 | 6;

/** Means over the last seconds. */
export interface PacketRate {
  readonly packetsPerS: number;
  readonly bitsPerS: number;
  /** Of these packets. */
  readonly ipv6PacketsPerS: number;
}

/** Packets to and from a machine, from its side. Packets to a blackholed address do not reach it. */
export interface PacketSample {
  readonly id: string;
  readonly in: PacketRate;
  readonly out: PacketRate;
}

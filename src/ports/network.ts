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

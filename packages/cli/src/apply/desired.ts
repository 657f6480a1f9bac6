/**
 * What a file says. What it leaves out is undefined, and is left alone; null takes away.
 */
export interface Desired {
  readonly project: string;
  readonly sshKeys: readonly Placed<DesiredKey>[];
  /** Undefined: the file has no such list, and no server is looked at. */
  readonly servers: readonly Placed<DesiredServer>[] | undefined;
  readonly volumes: readonly Placed<DesiredVolume>[];
  readonly groups: readonly Placed<DesiredGroup>[];
}

/** With the place to name when something is wrong with it: `skerry.yaml:12: servers[1]`. */
export type Placed<T> = T & { readonly place: string };

export interface DesiredKey {
  readonly name: string;
  readonly publicKey: string;
  /** `SHA256:…`, by which the service knows it: lists leave out the key itself. */
  readonly fingerprint: string;
}

/** Of what is to go only the name counts. */
export type DesiredServer = WantedServer | Absent;
export type DesiredVolume = WantedVolume | Absent;
export type DesiredGroup = WantedGroup | Absent;

export interface Absent {
  readonly name: string;
  readonly absent: true;
}

export interface WantedServer {
  readonly name: string;
  readonly absent: false;
  readonly plan: string;
  readonly region: string;
  /** An id, `family-version`, or a family. */
  readonly image: string;
  /** Names or ids. */
  readonly sshKeys: readonly string[];
  readonly tags: readonly string[] | undefined;
  /** All of them, but for our own. */
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** Null: none. */
  readonly userData: UserData | null | undefined;
  /** Undefined: whatever it is, and a month when the server is made. */
  readonly billingMonths: BillingMonths | undefined;
  readonly autoRenew: boolean | undefined;
  readonly rdns: { readonly ipv4: string | null | undefined; readonly ipv6: string | null | undefined };
}

export interface UserData {
  readonly base64: string;
  /** What the label `skerry-user-data` says: the service gives none of it back. */
  readonly digest: string;
}

export const BILLING_MONTHS = [1, 3, 6, 12] as const;
export type BillingMonths = (typeof BILLING_MONTHS)[number];

export interface WantedVolume {
  readonly name: string;
  readonly absent: false;
  readonly region: string;
  readonly sizeGb: number;
  readonly encrypted: boolean | undefined;
  readonly filesystem: string | null | undefined;
  /** The name of a server of the file; null: detached. */
  readonly server: string | null | undefined;
}

export interface WantedGroup {
  readonly name: string;
  readonly absent: false;
  readonly defaultAction: 'drop' | 'accept';
  readonly rules: readonly Rule[] | undefined;
  /** Names of servers of the file. */
  readonly servers: readonly string[] | undefined;
}

export interface Rule {
  readonly direction: 'in' | 'out';
  readonly proto: 'tcp' | 'udp' | 'icmp' | 'any';
  readonly port: string | null;
  readonly source: string;
  readonly action: 'accept' | 'drop' | 'reject';
  readonly note: string | null;
}

export function isWanted<T extends { readonly absent: boolean }>(
  item: T,
): item is Extract<T, { absent: false }> {
  return !item.absent;
}

import type { BackupPolicy, CreateServer } from '@skerry/sdk';
import type { ALERT_COMPARISONS, ALERT_METRICS, ALERT_WINDOWS } from '../limits.ts';

/** The contents of a file. An omitted field is undefined and left unchanged; null clears the value. */
export interface Desired {
  readonly project: string;
  readonly sshKeys: readonly Placed<DesiredKey>[];
  /** Undefined: the file has no such list, and servers are ignored. */
  readonly servers: readonly Placed<DesiredServer>[] | undefined;
  readonly volumes: readonly Placed<DesiredVolume>[];
  readonly groups: readonly Placed<DesiredGroup>[];
  readonly alerts: readonly Placed<DesiredAlert>[];
}

/** An item with its position for error messages: `skerry.yaml:12: servers[1]`. */
export type Placed<T> = T & { readonly place: string };

export interface DesiredKey {
  readonly name: string;
  readonly publicKey: string;
  /** `SHA256:…`; identifies the key, because lists omit the key itself. */
  readonly fingerprint: string;
}

/** An absent item needs only a name. */
export type DesiredServer = WantedServer | Absent;
export type DesiredVolume = WantedVolume | Absent;
export type DesiredGroup = WantedGroup | Absent;
export type DesiredAlert = WantedAlert | Absent;

export interface Absent {
  readonly name: string;
  readonly absent: true;
}

export interface WantedServer {
  readonly name: string;
  readonly absent: false;
  readonly plan: string;
  readonly region: string;
  /** An ID, `family-version`, a family, or the name of a snapshot. */
  readonly image: string;
  /** Names or IDs. */
  readonly sshKeys: readonly string[];
  readonly tags: readonly string[] | undefined;
  /** All labels except those that `apply` manages. */
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** Null: no user data. */
  readonly userData: UserData | null | undefined;
  /** Undefined: unchanged, and one month for a new server. */
  readonly billingMonths: BillingMonths | undefined;
  readonly autoRenew: boolean | undefined;
  readonly protection: DesiredProtection | undefined;
  /** Undefined: unchanged, and none for a new server. */
  readonly backups: DesiredBackups | undefined;
  /** False: a new server is not powered on. Others are neither started nor stopped. */
  readonly start: boolean | undefined;
  /** Names of volumes in the file; the same as the `server` of each. */
  readonly volumes: readonly string[] | undefined;
  readonly rdns: { readonly ipv4: string | null | undefined; readonly ipv6: string | null | undefined };
}

/** An omitted member is unchanged. */
export interface DesiredProtection {
  readonly delete?: boolean;
  readonly rebuild?: boolean;
}

/** As in an order: `{}` backs up. An omitted member is unchanged. */
export type DesiredBackups = NonNullable<CreateServer['backups']>;

/** All members of a policy that a request can set. */
export type BackupSettings = Pick<BackupPolicy, 'enabled' | 'every' | 'weekday' | 'hour_utc' | 'keep'>;

export interface UserData {
  readonly base64: string;
  /** The value of the label `skerry-user-data`: the API does not return user data. */
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
  readonly protection: Pick<DesiredProtection, 'delete'> | undefined;
  /** The name of a server in the file; null: detached. */
  readonly server: string | null | undefined;
}

export interface WantedGroup {
  readonly name: string;
  readonly absent: false;
  readonly defaultAction: 'drop' | 'accept';
  readonly rules: readonly Rule[] | undefined;
  /** Names of servers in the file. */
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

export interface WantedAlert {
  readonly name: string;
  readonly absent: false;
  readonly metric: (typeof ALERT_METRICS)[number];
  readonly compare: (typeof ALERT_COMPARISONS)[number] | undefined;
  /** Undefined for `unreachable` only. */
  readonly value: number | undefined;
  readonly window: (typeof ALERT_WINDOWS)[number] | undefined;
  /** Names of servers in the file. Undefined: `labelSelector` selects servers. */
  readonly servers: readonly string[] | undefined;
  readonly labelSelector: string | undefined;
  readonly enabled: boolean | undefined;
}

export function isWanted<T extends { readonly absent: boolean }>(
  item: T,
): item is Extract<T, { absent: false }> {
  return !item.absent;
}

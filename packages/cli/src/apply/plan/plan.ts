/** A plan as data: shown to a person, run by execute/, and run on a model by a test. */
import type { CreateServer, UpdateAlert, UpdateServer, UpdateVolume } from '@skerry/sdk';
import type {
  BackupSettings,
  DesiredKey,
  Rule,
  WantedAlert,
  WantedGroup,
  WantedServer,
  WantedVolume,
} from '../desired.ts';
import type { Fault } from '../faults.ts';

/** Resources have the names from the file; a server has its ID where a name could be ambiguous. */
export type Action =
  | { readonly do: 'create_key'; readonly key: DesiredKey }
  | { readonly do: 'create_group'; readonly group: WantedGroup }
  | {
      readonly do: 'update_group';
      readonly group: string;
      readonly defaultAction: WantedGroup['defaultAction'];
    }
  | { readonly do: 'replace_rules'; readonly group: string; readonly rules: readonly Rule[] }
  | { readonly do: 'create_volume'; readonly volume: WantedVolume }
  | { readonly do: 'update_volume'; readonly volume: string; readonly patch: UpdateVolume }
  | { readonly do: 'update_server'; readonly id: string; readonly patch: UpdateServer }
  | { readonly do: 'set_backups'; readonly id: string; readonly policy: BackupSettings }
  /** Runs before the replacement is created, so that a run after an interruption can tell the two apart. */
  | { readonly do: 'mark_replaced'; readonly id: string; readonly labels: Labels }
  | {
      readonly do: 'create_server';
      readonly server: WantedServer;
      /** The ID of an image or a snapshot. */
      readonly image: string;
      readonly labels: Labels;
      /** Names of the volumes that are attached with the order: they are not attached to another server. */
      readonly volumes: readonly string[];
      /** Names of its firewall groups in the file, so that they filter from the start. */
      readonly groups: readonly string[];
      readonly months: 1 | 3 | 6 | 12;
      /** For the whole cycle. */
      readonly priceUsd: number;
    }
  | {
      readonly do: 'rebuild_server';
      readonly id: string;
      readonly server: WantedServer;
      readonly image: string;
      /** Written after the rebuild started: a label must not describe data that is not on the disk. */
      readonly labels: Labels;
      /** Restored if the service gives up the rebuild and keeps the disk. */
      readonly labelsBefore: Labels;
    }
  /** Waits until it is done: nothing else can change the server meanwhile. */
  | { readonly do: 'resize_server'; readonly id: string; readonly plan: string }
  | {
      readonly do: 'apply_group';
      readonly group: string;
      /** Names of servers to add, or that are already members. */
      readonly servers: readonly string[];
      /** IDs of other servers that were members when the plan was made, and stay. */
      readonly keptIds: readonly string[];
      /** IDs of servers to remove; servers that others have added since are kept. */
      readonly removedIds: readonly string[];
    }
  /** Waits until a server that was created, or that another action needs, is running. */
  | { readonly do: 'wait_server'; readonly server: string }
  /** Waits before a rebuild, for a server that an interrupted run is still installing. */
  | { readonly do: 'settle_server'; readonly server: string }
  /**
   * Stops a server before it is deleted and its volumes are detached, so that its last writes are not lost.
   */
  | { readonly do: 'stop_server'; readonly id: string }
  | { readonly do: 'detach_volume'; readonly volume: string }
  | { readonly do: 'attach_volume'; readonly volume: string; readonly server: string }
  | { readonly do: 'set_rdns'; readonly server: string; readonly rdns: Rdns }
  | { readonly do: 'create_alert'; readonly alert: WantedAlert }
  | {
      readonly do: 'update_alert';
      readonly alert: string;
      readonly patch: UpdateAlert;
      /** Names; undefined: unchanged. */
      readonly servers: readonly string[] | undefined;
    }
  | { readonly do: 'delete_alert'; readonly id: string }
  | { readonly do: 'delete_group'; readonly id: string }
  | { readonly do: 'delete_volume'; readonly id: string }
  | { readonly do: 'destroy_server'; readonly id: string };

export type Labels = Readonly<NonNullable<CreateServer['labels']>>;
export type Rdns = { readonly ipv4?: string | null; readonly ipv6?: string | null };

/**
 * The order of all actions. A resource is created before it is used, a firewall is in place before its server
 * runs, and deletions come last: an incomplete run leaves more resources, not fewer. Rebuilds run one at a
 * time, each after the previous server is running (execute/run.ts).
 */
export const PHASES: readonly (readonly Action['do'][])[] = [
  ['create_key'],
  ['create_group', 'update_group', 'replace_rules'],
  ['create_volume', 'update_volume'],
  ['update_server', 'mark_replaced', 'set_backups'],
  ['settle_server'],
  ['resize_server'],
  ['create_server', 'rebuild_server'],
  ['apply_group'],
  ['wait_server'],
  ['stop_server'],
  ['detach_volume'],
  ['attach_volume'],
  ['set_rdns'],
  ['create_alert', 'update_alert'],
  ['delete_alert'],
  ['delete_volume'],
  ['destroy_server'],
  ['delete_group'],
];

/** `wait`: no change; the resource is not ready yet. */
export type ChangeType = 'wait' | 'create' | 'change' | 'replace' | 'rebuild' | 'destroy';
export type Kind = 'ssh_key' | 'firewall_group' | 'volume' | 'server' | 'alert';

export const KIND_NAMES: Readonly<Record<Kind, string>> = {
  ssh_key: 'SSH key',
  firewall_group: 'firewall group',
  volume: 'volume',
  server: 'server',
  alert: 'alert',
};

/** A resource and all actions on it. */
export interface PlanItem {
  readonly changeType: ChangeType;
  readonly kind: Kind;
  readonly name: string;
  /** Null: not created yet. */
  readonly id: string | null;
  /** The changes and their reasons, one per line. */
  readonly reasons: readonly string[];
  /** The data that is lost permanently: `the disk of server web-1`; null: none. */
  readonly destroys: string | null;
  readonly actions: readonly Action[];
}

/** Returns the item of a change; the defaults are those of a change that loses no data. */
export function changeOf(
  kind: Kind,
  name: string,
  rest: Pick<PlanItem, 'reasons' | 'actions'> & Partial<PlanItem>,
): PlanItem {
  return { changeType: 'change', kind, name, id: null, destroys: null, ...rest };
}

/** IDs of existing resources, by their names in actions. */
export type KnownIds = Readonly<Record<Kind, ReadonlyMap<string, string>>>;

export interface Plan {
  readonly project: string;
  readonly items: readonly PlanItem[];
  /** Differences that cannot be changed. */
  readonly notes: readonly string[];
  readonly ids: KnownIds;
}

/** Whether no confirmation is needed because nothing is created, changed, or deleted. */
export function onlyWaits({ items }: Plan): boolean {
  return items.every(({ changeType }) => changeType === 'wait');
}

/** The comparison of one kind of resource. */
export interface Comparison {
  readonly items: readonly PlanItem[];
  readonly notes: readonly string[];
  readonly faults: readonly Fault[];
  readonly ids: ReadonlyMap<string, string>;
}

/** What is to be done, as data: shown to a person, carried out by act/, and tried on a model by a test. */
import type { CreateServer, Image, UpdateServer } from '@skerry/sdk';
import type { DesiredKey, Rule, WantedGroup, WantedServer, WantedVolume } from '../desired.ts';
import type { Fault } from '../faults.ts';

/** Things are named as the file names them; `server` by id where a name might mean two. */
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
  | { readonly do: 'grow_volume'; readonly volume: string; readonly sizeGb: number }
  | { readonly do: 'update_server'; readonly id: string; readonly patch: UpdateServer }
  /** Before another one is made in its place, so that a run that was cut short knows the two apart. */
  | { readonly do: 'mark_replaced'; readonly id: string; readonly labels: Labels }
  | {
      readonly do: 'create_server';
      readonly server: WantedServer;
      readonly image: Image['id'];
      readonly labels: Labels;
      readonly months: 1 | 3 | 6 | 12;
      /** For all of them. */
      readonly priceUsd: number;
    }
  | {
      readonly do: 'rebuild_server';
      readonly id: string;
      readonly server: WantedServer;
      readonly image: Image['id'];
      /** Once it is begun: the label must not say of a disk what is not on it. */
      readonly labels: Labels;
      /** If the service gives it up, and the disk is what it was. */
      readonly labelsBefore: Labels;
    }
  | {
      readonly do: 'apply_group';
      readonly group: string;
      /** Names of those that come in, or are in it. */
      readonly servers: readonly string[];
      /** Ids of those that stay in it beside them, as it was when it was compared. */
      readonly keptIds: readonly string[];
      /** Ids of those that fall out; nobody else does, whoever came in since. */
      readonly removedIds: readonly string[];
    }
  /** Until the server runs; of one that needs it, or that was made. */
  | { readonly do: 'wait_server'; readonly server: string }
  /** Before it is installed anew: of one that is still being installed, by a run that was cut short say. */
  | { readonly do: 'settle_server'; readonly server: string }
  /** Of one that is destroyed, before its volumes are taken: what it has not written yet would be lost with it. */
  | { readonly do: 'stop_server'; readonly id: string }
  | { readonly do: 'detach_volume'; readonly volume: string }
  | { readonly do: 'attach_volume'; readonly volume: string; readonly server: string }
  | { readonly do: 'set_rdns'; readonly server: string; readonly rdns: Rdns }
  | { readonly do: 'delete_group'; readonly id: string; readonly applied: boolean }
  | { readonly do: 'delete_volume'; readonly id: string; readonly attached: boolean }
  | { readonly do: 'destroy_server'; readonly id: string };

export type Labels = Readonly<NonNullable<CreateServer['labels']>>;
export type Rdns = { readonly ipv4?: string | null; readonly ipv6?: string | null };

/**
 * The order of all acts. What is made comes before what uses it, a filter before the machine behind it runs, and what destroys is
 * the last: a run that fails leaves more, not less. Rebuilds begin one by one, each when the one before it runs (act/run.ts).
 */
export const PHASES: readonly (readonly Action['do'][])[] = [
  ['create_key'],
  ['create_group', 'update_group', 'replace_rules'],
  ['create_volume', 'grow_volume'],
  ['update_server', 'mark_replaced'],
  ['settle_server'],
  ['create_server', 'rebuild_server'],
  ['apply_group'],
  ['wait_server'],
  ['stop_server'],
  ['detach_volume'],
  ['attach_volume'],
  ['set_rdns'],
  ['delete_volume'],
  ['destroy_server'],
  ['delete_group'],
];

/** `wait`: nothing is done, but it is not there yet. */
export type ChangeType = 'wait' | 'create' | 'change' | 'replace' | 'rebuild' | 'destroy';
export type Kind = 'ssh_key' | 'firewall_group' | 'volume' | 'server';

/** One thing, and all that becomes of it. */
export interface PlanItem {
  readonly changeType: ChangeType;
  readonly kind: Kind;
  readonly name: string;
  /** Null: it is to be made. */
  readonly id: string | null;
  /** What changes and why, each a line. */
  readonly reasons: readonly string[];
  /** What is lost for ever: `the disk of server web-1`; null: nothing. */
  readonly destroys: string | null;
  readonly actions: readonly Action[];
}

/** Ids of what is there already, by the names that acts use. */
export interface KnownIds {
  readonly ssh_key: ReadonlyMap<string, string>;
  readonly firewall_group: ReadonlyMap<string, string>;
  readonly volume: ReadonlyMap<string, string>;
  readonly server: ReadonlyMap<string, string>;
}

export interface Plan {
  readonly project: string;
  readonly items: readonly PlanItem[];
  /** What is not as the file says, and stays so. */
  readonly notes: readonly string[];
  readonly ids: KnownIds;
}

/** Then there is nothing to ask about: nothing is made, changed or destroyed. */
export function onlyWaits({ items }: Plan): boolean {
  return items.every(({ changeType }) => changeType === 'wait');
}

/** What each kind's comparison gives. */
export interface Comparison {
  readonly items: readonly PlanItem[];
  readonly notes: readonly string[];
  readonly faults: readonly Fault[];
  readonly ids: ReadonlyMap<string, string>;
}

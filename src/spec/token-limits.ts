/**
 * The limits of API tokens: the operations that they tell apart, the resources that they cover, and the rule
 * of which resources are inside. Everything that is not listed here is outside, so that a new operation or
 * resource needs no change here to be safe.
 */
import { OPERATIONS } from './operations.ts';

/** Parts of an operation of the API that are operations of their own for limits. */
const PARTIAL_OPERATIONS = ['servers.unprotect', 'volumes.unprotect', 'snapshots.unprotect'] as const;

/** The operations that a token can be limited to. */
export const LIMIT_OPERATIONS = [...OPERATIONS, ...PARTIAL_OPERATIONS] as const;
export type LimitOperation = (typeof LIMIT_OPERATIONS)[number];

export const SPEND_PERIODS = ['total', 'month'] as const;
export type SpendPeriod = (typeof SPEND_PERIODS)[number];

/** Resources named by the limits of one token. */
export const LIMIT_RESOURCES_MAX = 200;

interface CoveredType {
  /** The key of its object in events. */
  readonly key: string;
  readonly hasLabels: boolean;
  /** Without a region, a limit on regions does not concern it. */
  readonly hasRegion: boolean;
  /** The field of its object with its server: it is inside if that server is named. */
  readonly serverField: 'attached_to' | 'server' | null;
}

/** The types of resources that a limited token can reach, by the kind of their ids. */
export const COVERED_TYPES = {
  server: { key: 'server', hasLabels: true, hasRegion: true, serverField: null },
  volume: { key: 'volume', hasLabels: true, hasRegion: true, serverField: 'attached_to' },
  snapshot: { key: 'snapshot', hasLabels: true, hasRegion: true, serverField: 'server' },
  customImage: { key: 'image', hasLabels: false, hasRegion: false, serverField: null },
  sshKey: { key: 'ssh_key', hasLabels: false, hasRegion: false, serverField: null },
  firewallGroup: { key: 'firewall_group', hasLabels: false, hasRegion: false, serverField: null },
} as const satisfies Record<string, CoveredType>;
export type CoveredKind = keyof typeof COVERED_TYPES;
export const COVERED_KINDS = Object.keys(COVERED_TYPES) as readonly CoveredKind[];

/**
 * The operations of a token that is limited to resources, labels, or regions, by their ids or the part before
 * the dot, with what they show. All others belong to the account as a whole and are not allowed.
 */
const REACHABLE_OPERATIONS = {
  servers: 'inside',
  volumes: 'inside',
  snapshots: 'inside',
  backup_policies: 'inside',
  images: 'inside',
  ssh_keys: 'inside',
  firewall_groups: 'inside',
  firewall_rules: 'inside',
  audit_events: 'inside',
  events: 'inside',
  webhooks: 'own',
  'actions.get': 'inside',
  'actions.of_server': 'inside',
  deliveries: 'own',
  tokens: 'own',
  account: 'everyone',
  limits: 'everyone',
  plans: 'everyone',
  regions: 'everyone',
  quotes: 'everyone',
} as const satisfies Record<string, 'inside' | 'own' | 'everyone'>;

/** Whether a token that is limited to resources, labels, or regions may run the operation at all. */
export function isReachableOperation(operation: LimitOperation): boolean {
  const names = [operation, operation.split('.')[0] ?? ''];
  return names.some((name) => Object.hasOwn(REACHABLE_OPERATIONS, name));
}

/** Fields of bodies whose text is never an id. An id in any other field must be inside. */
export const TEXT_FIELDS: ReadonlySet<string> = new Set([
  'name',
  'tags',
  'labels',
  'note',
  'public_key',
  'user_data_b64',
  'label_selector',
  'url',
  'events',
  'host_name',
  'hostname',
]);

/** The resources that one token of the chain names or selects. Null: it does not limit them so. */
export interface ReachClause {
  /** Public ids. */
  readonly resources: readonly string[] | null;
  readonly labels: Readonly<Record<string, string>> | null;
}

/** The resources of a limited token: inside each clause, and in one of the regions. */
export interface Reach {
  readonly clauses: readonly ReachClause[];
  /** Null: all. */
  readonly regions: readonly string[] | null;
}

/** The fields of a resource that decide whether it is inside. */
export interface ReachFacts {
  /** Null: it does not exist yet. */
  readonly id: string | null;
  readonly server?: string | null;
  readonly labels?: Readonly<Record<string, string>>;
  readonly region?: string;
}

/** The rule for one resource. `insideSql` in store/customers/reach.ts is the same rule for lists. */
export function isInside(reach: Reach, facts: ReachFacts): boolean {
  const { regions, clauses } = reach;
  if (regions && facts.region !== undefined && !regions.includes(facts.region)) return false;
  return clauses.every(({ resources, labels }) => {
    const isNamed = [facts.id, facts.server].some((id) => id && resources?.includes(id));
    return isNamed || (labels !== null && hasLabels(facts.labels ?? {}, labels));
  });
}

function hasLabels(
  own: Readonly<Record<string, string>>,
  required: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(required).every(([key, value]) => Object.hasOwn(own, key) && own[key] === value);
}

/** Whether events with this key in their data may be inside for some token. */
export function mayBeInside(eventKey: string): boolean {
  return Object.values(COVERED_TYPES).some(({ key }) => key === eventKey);
}

/** Whether an event is about a resource that is inside. Events about anything else are outside. */
export function isEventInside(reach: Reach, data: object): boolean {
  const keys: readonly string[] = Object.values(COVERED_TYPES).map(({ key }) => key);
  // A server next to an alert or a balance says nothing about these.
  if (Object.keys(data).some((key) => !keys.includes(key))) return false;
  const known = Object.values(COVERED_TYPES).flatMap((type) => {
    const object: unknown = Reflect.get(data, type.key);
    return object ? [factsOf(object as Record<string, unknown>, type)] : [];
  });
  return known.length > 0 && [...known, ...membersIn(data)].every((facts) => isInside(reach, facts));
}

/** The servers that a firewall group in an event is applied to. Only their ids are known. */
function membersIn(data: object): ReachFacts[] {
  const group = Reflect.get(data, COVERED_TYPES.firewallGroup.key) as { applied_to?: string[] } | undefined;
  return (group?.applied_to ?? []).map((id) => ({ id, region: '' }));
}

function factsOf(object: Readonly<Record<string, unknown>>, type: CoveredType): ReachFacts {
  const { id, labels, region } = object;
  return {
    id: String(id),
    server: type.serverField && (object[type.serverField] as string | null),
    ...(type.hasLabels ? { labels: labels as Record<string, string> } : {}),
    // An event of an earlier version may lack the region: then it is in none.
    ...(type.hasRegion ? { region: typeof region === 'string' ? region : '' } : {}),
  };
}

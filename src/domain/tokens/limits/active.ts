/** The limits of the token of a request, and the checks before its verb. */
import { cidrContains, parseCidr } from '../../../kernel/cidr.ts';
import { fail } from '../../../kernel/fail.ts';
import type { KeyRing } from '../../../kernel/secrets.ts';
import { EVENTS, type EventType } from '../../../spec/events.ts';
import { SEALED } from '../../../spec/sealed.ts';
import {
  isInside,
  isReachableOperation,
  type LimitOperation,
  mayBeInside,
  type Reach,
  type ReachFacts,
} from '../../../spec/token-limits.ts';
import type { LimitColumns, OwnLimits } from '../../../store/customers/token-limits.ts';

/** The limits that apply to a request: those of its token, and of the tokens that made it. */
export interface ActiveLimits {
  /** Internal ids; the last is the token's own. */
  readonly chain: readonly string[];
  /** Each has the blocks of one token of the chain. */
  readonly networks: readonly (readonly string[])[];
  readonly operations: readonly (readonly string[])[];
  /** Null: every resource of the account. */
  readonly reach: Reach | null;
}

/** Returns undefined for an unlimited token. */
export function activeLimits(keys: KeyRing, id: string, row: LimitColumns): ActiveLimits | undefined {
  const { limits, limit_chain: chain } = row;
  if (!limits || !chain) return undefined;
  const networks = openNetworks(keys, id, row.ip_cidrs_sealed) ?? [];
  return {
    chain,
    networks: networks.filter((blocks) => blocks !== null),
    operations: limits.flatMap(({ operations }) => (operations ? [operations] : [])),
    reach: reachOf(limits),
  };
}

/** Opens the blocks of each token of the chain. */
export function openNetworks(
  keys: KeyRing,
  id: string,
  sealed: string | null,
): (readonly string[] | null)[] | null {
  return sealed === null ? null : JSON.parse(keys.open(SEALED.ipCidrs, id, sealed).toString());
}

export function reachOf(limits: readonly OwnLimits[]): Reach | null {
  const clauses = limits.flatMap(({ resources = null, labels = null }) => {
    return resources || labels ? [{ resources, labels }] : [];
  });
  const lists = limits.flatMap(({ regions }) => (regions ? [regions] : []));
  const [first, ...others] = lists;
  const regions = first?.filter((region) => others.every((list) => list.includes(region))) ?? null;
  return clauses.length > 0 || regions ? { clauses, regions } : null;
}

/** Throws because the limits of the token do not allow the request. */
export function refuseByLimit(field: string, message: string): never {
  fail('not_allowed', { field }, message);
}

/** Refuses a stream on which nothing would ever come: a client would rely on it and not ask. */
export function requireHeard(limits: ActiveLimits | undefined, types: ReadonlySet<string>): void {
  if (!limits?.reach || types.has('*')) return;
  const isHeard = (type: string) => type in EVENTS && mayBeInside(EVENTS[type as EventType].key);
  if (![...types].some(isHeard))
    refuseByLimit('limits.resources', 'This token does not receive events of these types.');
}

/** Refuses a request from an address outside the token's networks. The address is not kept anywhere. */
export function requireNetwork(limits: ActiveLimits | undefined, address: string): void {
  if (!limits?.networks.every((blocks) => blocks.some((block) => contains(block, address))))
    if (limits) refuseByLimit('limits.ip_cidrs', 'This token cannot be used from your network.');
}

function contains(block: string, address: string): boolean {
  const cidr = parseCidr(block);
  return cidr !== undefined && cidrContains(cidr, address);
}

export function requireOperation(limits: ActiveLimits | undefined, operation: LimitOperation): void {
  if (!limits) return;
  const isNamed = limits.operations.every((names) => names.includes(operation));
  const isReachable = limits.reach === null || isReachableOperation(operation);
  if (!isNamed || !isReachable)
    refuseByLimit(
      isNamed ? 'limits.resources' : 'limits.operations',
      `The limits of this token do not allow the operation ${operation}.`,
    );
}

/** Refuses to create a resource that would be outside. `field` is the field at fault. */
export function requireInsideNew(limits: ActiveLimits | undefined, facts: Omit<ReachFacts, 'id'>): void {
  const reach = limits?.reach;
  if (!reach || isInside(reach, { id: null, ...facts })) return;
  const { regions, clauses } = reach;
  if (regions && facts.region !== undefined && !regions.includes(facts.region))
    refuseByLimit('region', `The limits of this token allow only these regions: ${regions.join(', ')}.`);
  const isSelected = facts.labels !== undefined && clauses.every(({ labels }) => labels !== null);
  if (!isSelected)
    refuseByLimit('limits.resources', 'The limits of this token do not allow it to create this resource.');
  refuseByLimit('labels', 'The limits of this token require labels that select the new resource.');
}

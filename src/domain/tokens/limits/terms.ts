/** The limits that one token sets: read from a request, compared, and stored. */
import { formatCidr, hostCidr, isSubnet, parseCidr } from '../../../kernel/cidr.ts';
import { fail, invalidRequest, requireLabels } from '../../../kernel/fail.ts';
import type { KeyRing } from '../../../kernel/secrets.ts';
import type { TokenLimitsBody } from '../../../spec/schemas/token-limits.ts';
import { SEALED } from '../../../spec/sealed.ts';
import type { LimitOperation, SpendPeriod } from '../../../spec/token-limits.ts';
import { coveredKindOf } from '../../../store/customers/reach.ts';
import type { BudgetColumns, LimitColumns, OwnLimits } from '../../../store/customers/token-limits.ts';
import type { TokenRow } from '../../../store/customers/tokens.ts';
import { openNetworks, refuseByLimit } from './active.ts';

/** Null: not limited. */
export interface Terms {
  readonly networks: readonly string[] | null;
  readonly operations: readonly LimitOperation[] | null;
  readonly resources: readonly string[] | null;
  readonly labels: Readonly<Record<string, string>> | null;
  readonly regions: readonly string[] | null;
  readonly spendCents: bigint | null;
  readonly spendPeriod: SpendPeriod;
  readonly serversMax: number | null;
}

export const NO_TERMS: Terms = {
  networks: null,
  operations: null,
  resources: null,
  labels: null,
  regions: null,
  spendCents: null,
  spendPeriod: 'total',
  serversMax: null,
};

export function isLimited({ spendPeriod: _period, ...terms }: Terms): boolean {
  return Object.values(terms).some((term) => term !== null);
}

/** Reads the members that the body has. Refuses malformed ones with 400 or `unknown_reference`. */
export function readTerms(body: TokenLimitsBody): Partial<Terms> {
  const { ip_cidrs, operations, resources, label_selector, regions, spend_usd, spend_period } = body;
  for (const [index, id] of (resources ?? []).entries()) if (!coveredKindOf(id)) throwUnknownResource(index);
  const labels =
    label_selector == null ? label_selector : requireLabels(label_selector, 'limits.label_selector');
  const read: { [Name in keyof Terms]: Terms[Name] | undefined } = {
    networks: ip_cidrs == null ? ip_cidrs : ip_cidrs.map(readNetwork),
    operations,
    resources,
    labels,
    regions,
    spendCents: spend_usd == null ? spend_usd : BigInt(Math.round(spend_usd * 100)),
    spendPeriod: spend_period,
    serversMax: body.max_servers,
  };
  return Object.fromEntries(Object.entries(read).filter(([, term]) => term !== undefined));
}

export function throwUnknownResource(index: number): never {
  const field = `limits.resources.${index}`;
  fail('unknown_reference', { field }, `${field}: resource not found in your account.`);
}

/** A network, or a single address. */
function readNetwork(text: string, index: number): string {
  const cidr = parseCidr(text) ?? hostCidr(text);
  return cidr
    ? formatCidr(cidr)
    : invalidRequest(
        [{ field: `limits.ip_cidrs.${index}`, issue: 'invalid_format' }],
        'Enter networks such as 203.0.113.0/24 or 2001:db8::/56.',
      );
}

const isSubset = (inner: readonly string[] | null, outer: readonly string[] | null) =>
  outer === null || (inner?.every((word) => outer.includes(word)) ?? false);

/** Refuses terms that exceed those of the token that creates the new one. */
export function requireWithin(outer: Terms, inner: Terms): void {
  const inNetworks =
    outer.networks === null ||
    (inner.networks?.every((block) => isInNetworks(block, outer.networks)) ?? false);
  const spends =
    outer.spendCents === null ||
    (inner.spendCents !== null &&
      inner.spendCents <= outer.spendCents &&
      (outer.spendPeriod === 'month' || inner.spendPeriod === 'total'));
  const servers =
    outer.serversMax === null || (inner.serversMax !== null && inner.serversMax <= outer.serversMax);
  const isWithin: Record<string, boolean> = {
    ip_cidrs: inNetworks,
    operations: isSubset(inner.operations, outer.operations),
    regions: isSubset(inner.regions, outer.regions),
    spend_usd: spends,
    max_servers: servers,
  };
  for (const [name, holds] of Object.entries(isWithin)) if (!holds) throwWider(name);
}

/** Refuses a change that would let the token reach more than before. */
export function requireNarrower(before: Terms, after: Terms): void {
  requireWithin(before, after);
  if (before.resources === null && before.labels === null) return;
  const { resources, labels } = after;
  const names = resources === null || (before.resources !== null && isSubset(resources, before.resources));
  if (!names || (resources === null && labels === null)) throwWider('resources');
  const selects =
    labels === null ||
    (before.labels !== null && Object.entries(before.labels).every(([key, value]) => labels[key] === value));
  if (!selects) throwWider('label_selector');
}

function isInNetworks(block: string, outer: readonly string[] | null): boolean {
  const inner = parseCidr(block);
  return (outer ?? []).some((text) => {
    const network = parseCidr(text);
    return inner !== undefined && network !== undefined && isSubnet(inner, network);
  });
}

function throwWider(member: string): never {
  const field = `limits.${member}`;
  refuseByLimit(field, `${field} can only be narrowed, and a token cannot create one with wider limits.`);
}

/** Reads the terms of a stored token. */
export function termsOf(keys: KeyRing, row: TokenRow): Terms {
  const own = row.limits?.at(-1);
  if (!own) return NO_TERMS;
  const { operations, resources, labels, regions } = own;
  return {
    networks: openNetworks(keys, row.id, row.ip_cidrs_sealed)?.at(-1) ?? null,
    operations: (operations as readonly LimitOperation[] | undefined) ?? null,
    resources: resources ?? null,
    labels: labels ?? null,
    regions: regions ?? null,
    spendCents: row.spend_limit_cents,
    spendPeriod: row.spend_period,
    serversMax: row.servers_limit,
  };
}

/** The limits of the tokens that made a token, the outermost first. */
export interface Inherited extends Pick<LimitColumns, 'limit_chain' | 'limits'> {
  readonly networks: readonly (readonly string[] | null)[] | null;
}

export const NOTHING_INHERITED: Inherited = { limit_chain: null, limits: null, networks: null };

/** Returns the columns of a token with these terms. */
export function limitColumns(keys: KeyRing, id: string, terms: Terms, inherited: Inherited): LimitColumns {
  if (!isLimited(terms) && !inherited.limits) {
    return { limit_chain: null, limits: null, ip_cidrs_sealed: null };
  }
  const { operations, resources, labels, regions } = terms;
  const named = Object.entries({ operations, resources, labels, regions }).filter(
    ([, term]) => term !== null,
  );
  const outer = inherited.limits ?? [];
  const networks = [...(inherited.networks ?? outer.map(() => null)), terms.networks];
  return {
    limit_chain: [...(inherited.limit_chain ?? []), id],
    limits: [...outer, Object.fromEntries(named) as OwnLimits],
    ip_cidrs_sealed: networks.some((blocks) => blocks !== null)
      ? keys.seal(SEALED.ipCidrs, id, JSON.stringify(networks))
      : null,
  };
}

export function budgetColumns({ spendCents, spendPeriod, serversMax }: Terms): BudgetColumns {
  return { spend_limit_cents: spendCents, spend_period: spendPeriod, servers_limit: serversMax };
}

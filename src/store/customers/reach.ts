/**
 * The conditions of limited tokens: which resources are inside their reach. `isInside` in
 * spec/token-limits.ts is the same rule for one object. Statements of unlimited tokens contain none of it.
 */
import { type IdKind, parseId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { COVERED_KINDS, COVERED_TYPES, type CoveredKind, type Reach } from '../../spec/token-limits.ts';

/** The values of the conditions. */
interface ReachValues {
  /** JSON: the clauses with internal ids. */
  readonly reachClauses: string;
  readonly reachRegions: readonly string[] | null;
}

export function reachValues({ clauses, regions }: Reach): ReachValues {
  const readable = clauses.map(({ resources, labels }) => {
    return { named: resources?.map(internalId) ?? null, selected: labels };
  });
  return { reachClauses: JSON.stringify(readable), reachRegions: regions };
}

function internalId(shown: string): string {
  const kind = coveredKindOf(shown);
  const id = kind && parseId(kind, shown);
  if (!id) throw new Error('the limits of a token have a malformed id');
  return id;
}

/** Returns the kind of a public id of a covered resource. */
export function coveredKindOf(shown: string): CoveredKind | undefined {
  return COVERED_KINDS.find((kind) => parseId(kind, shown) !== undefined);
}

const TABLES: Record<CoveredKind, string> = {
  server: 'servers',
  volume: 'volumes',
  snapshot: 'snapshots',
  customImage: 'images',
  sshKey: 'ssh_keys',
  firewallGroup: 'firewall_groups',
};

/** The condition that a row is inside. `alias` is that of its table with a dot, or empty. */
export function insideSql(kind: CoveredKind, alias = ''): string {
  const { hasLabels, hasRegion, serverField } = COVERED_TYPES[kind];
  const matches = [
    `coalesce(${alias}id = any(clause.named), false)`,
    ...(serverField ? [`coalesce(${alias}server_id = any(clause.named), false)`] : []),
    ...(hasLabels ? [`coalesce(${alias}labels @> clause.selected, false)`] : []),
  ];
  const isInClauses = `not exists (
    select from jsonb_to_recordset($reachClauses::jsonb) as clause (named uuid[], selected jsonb)
     where not (${matches.join(' or ')}))`;
  if (!hasRegion) return isInClauses;
  return `(${isInClauses} and ($reachRegions::text[] is null or ${alias}region_id = any($reachRegions)))`;
}

/** Adds the condition to a page's source; an unlimited token reads the source as it is. */
export function pageInside<Source extends { readonly where: string; readonly values: object }>(
  source: Source,
  reach: Reach | null | undefined,
  kind: CoveredKind,
  alias = '',
): Source {
  if (!reach) return source;
  return {
    ...source,
    where: `${source.where} and ${insideSql(kind, alias)}`,
    values: { ...source.values, ...reachValues(reach) },
  };
}

const INSIDE = COVERED_KINDS.map((kind) => {
  return `select '${kind}' as kind, id from ${TABLES[kind]}
           where customer_id = $customerId and ($ids::uuid[] is null or id = any($ids))
             and ${insideSql(kind)}`;
}).join('\n union all ');

/** A limited token's own: made by it, or by a token that it made. */
const OWN = ['webhook', 'token']
  .map((kind) => {
    const [table, chain] = kind === 'token' ? ['api_tokens', 'limit_chain'] : ['webhooks', 'limited_by'];
    return `select '${kind}' as kind, id from ${table}
           where customer_id = $customerId and ($ids::uuid[] is null or id = any($ids))
             and $tokenId = any(${chain})`;
  })
  .join('\n union all ');

/** An action is outside while its resource is there and outside. The ids of actions cannot be guessed. */
const ACTIONS = `select 'action' as kind, x.id from actions x
  where x.customer_id = $customerId and x.id = any($ids)
    and not exists (${(['server', 'volume', 'snapshot', 'customImage'] as const)
      .map(
        (kind) => `select from ${TABLES[kind]} r where r.id = x.resource_id and not ${insideSql(kind, 'r.')}`,
      )
      .join('\n union all ')})`;

export interface InsideRow {
  readonly kind: IdKind;
  readonly id: string;
}

/** Finds those of these resources that the token can reach; without ids, all. */
export async function findInside(
  sql: Sql,
  viewer: { readonly customerId: string; readonly tokenId: string; readonly reach: Reach },
  ids: readonly string[] | null,
): Promise<InsideRow[]> {
  const { customerId, tokenId, reach } = viewer;
  return await sql.rows<InsideRow>(`${INSIDE}\n union all ${OWN}\n union all ${ACTIONS}`, {
    customerId,
    tokenId,
    ids,
    ...reachValues(reach),
  });
}

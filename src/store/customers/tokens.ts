/** API tokens, and the lookup of a bearer token. */
import type { Sql } from '../../kernel/sql.ts';
import type { PageRequest } from '../../spec/lists.ts';
import type { Scope } from '../../spec/scopes.ts';
import { BY_CREATION_OR_NAME, countUpTo, type Page, readPage } from '../page.ts';
import { parametersFor } from '../parameters.ts';
import type { BudgetColumns, LimitColumns } from './token-limits.ts';

export interface TokenRow extends LimitColumns, BudgetColumns {
  readonly id: string;
  readonly name: string;
  readonly scope: Scope;
  readonly last_used_at: Date | null;
  readonly expires_at: Date | null;
  /** The token that created it, with which it is revoked; null: a session did, or it stands alone. */
  readonly created_by_token: string | null;
  readonly created_at: Date;
  readonly spent_cents: bigint;
  /** The first day of the month of `spent_cents`, as text. */
  readonly spent_month: string | null;
}

const LIMITS = 'limit_chain, limits, ip_cidrs_sealed, spend_limit_cents, spend_period, servers_limit';
const COLUMNS = `id, name, scope, last_used_at, expires_at, created_by_token, created_at, ${LIMITS},
  spent_cents, spent_month`;
const OWN_COLUMNS = COLUMNS.replace(/\w+/g, 't.$&');

const UNLIMITED: LimitColumns & BudgetColumns = {
  limit_chain: null,
  limits: null,
  ip_cidrs_sealed: null,
  spend_limit_cents: null,
  spend_period: 'total',
  servers_limit: null,
};

export async function insertToken(
  tx: Sql,
  row: {
    readonly id: string;
    readonly customerId: string;
    readonly name: string;
    readonly scope: Scope;
    readonly digest: Buffer;
    readonly expiresAt: Date | null;
    /** Missing: a session creates it. */
    readonly createdByToken?: string | null;
    readonly createdAt: Date;
  } & Partial<LimitColumns & BudgetColumns>,
): Promise<TokenRow> {
  const [inserted] = await tx.rows<TokenRow>(
    `insert into api_tokens (id, customer_id, name, scope, digest, expires_at, created_by_token, created_at,
                             ${LIMITS})
     values ($id, $customerId, $name, $scope, $digest, $expiresAt, $createdByToken, $createdAt,
             ${parametersFor(LIMITS)})
     returning ${COLUMNS}`,
    { createdByToken: null, ...UNLIMITED, ...row, limits: row.limits ? JSON.stringify(row.limits) : null },
  );
  if (!inserted) throw new Error('the insert of a token did not return its row');
  return inserted;
}

/** Counts up to `limit`. */
export async function countTokens(tx: Sql, customerId: string, limit: number): Promise<number> {
  return await countUpTo(tx, 'api_tokens where customer_id = $customerId', { customerId, limit });
}

/** Lists all tokens of a customer, newest first. The quota bounds their number. */
export async function listTokens(tx: Sql, customerId: string): Promise<TokenRow[]> {
  return await tx.rows<TokenRow>(
    `select ${COLUMNS} from api_tokens where customer_id = $1 order by created_at desc, id desc`,
    [customerId],
  );
}

/**
 * Pages through the customer's tokens; with `maker`, through that token and those that it made. The quota
 * bounds the rows that a filter or a sort scans.
 */
export async function pageTokens(
  tx: Sql,
  customerId: string,
  page: PageRequest,
  maker?: string,
): Promise<Page<TokenRow>> {
  return await readPage<TokenRow>(
    tx,
    {
      columns: COLUMNS,
      from: 'api_tokens',
      where: maker ? 'customer_id = $customerId and $maker = any(limit_chain)' : 'customer_id = $customerId',
      values: { customerId, ...(maker ? { maker } : {}) },
      sorts: BY_CREATION_OR_NAME,
      filters: { scope: { where: 'scope = $scope' }, name: { where: 'name = $name' } },
    },
    page,
  );
}

/** Finds the customer's own token. */
export async function findToken(tx: Sql, customerId: string, id: string): Promise<TokenRow | undefined> {
  return await tx.row<TokenRow>(`select ${COLUMNS} from api_tokens where id = $1 and customer_id = $2`, [
    id,
    customerId,
  ]);
}

/** Finds the token and all that it created, directly or not: a token comes after its maker. */
export async function findTokenTree(tx: Sql, customerId: string, id: string): Promise<TokenRow[]> {
  return await tx.rows<TokenRow>(
    `with recursive tree as (
       select id, 0 as depth from api_tokens where id = $1 and customer_id = $2
       union all
       select t.id, depth + 1 from api_tokens t join tree on t.created_by_token = tree.id)
     select ${OWN_COLUMNS} from api_tokens t join tree using (id) order by depth, t.id`,
    [id, customerId],
  );
}

export async function renameToken(tx: Sql, id: string, name: string): Promise<void> {
  await tx.run('update api_tokens set name = $2 where id = $1', [id, name]);
}

/**
 * Deletes the token, all tokens that it created, directly or not, and their buckets. They stop working on
 * commit. A token that revokes its unlimited creator, `revokedBy`, stays with what it created. Returns the
 * rows, oldest first; empty if the customer has no such token.
 */
export async function deleteTokenTree(
  tx: Sql,
  { customerId, id, revokedBy }: { customerId: string; id: string; revokedBy: string | null },
): Promise<TokenRow[]> {
  return await tx.rows<TokenRow>(
    `with recursive doomed as (
       select id from api_tokens where id = $1 and customer_id = $2
       union
       select t.id from api_tokens t join doomed d on t.created_by_token = d.id
        where t.customer_id = $2 and not (t.id is not distinct from $3::uuid and t.created_by_token = $1
                                                 and $1 <> all(coalesce(t.limit_chain, '{}')))),
     deleted as (delete from api_tokens t using doomed d where t.id = d.id returning ${OWN_COLUMNS}),
     buckets as (delete from rate_buckets b using deleted where b.token_id = deleted.id)
     select * from deleted order by created_at, id`,
    [id, customerId, revokedBy],
  );
}

/** Deletes all tokens of the customer with their buckets. Returns the rows, oldest first. */
export async function deleteAllTokens(tx: Sql, customerId: string): Promise<TokenRow[]> {
  return await tx.rows<TokenRow>(
    `with deleted as (delete from api_tokens where customer_id = $1 returning ${COLUMNS}),
     buckets as (delete from rate_buckets b using deleted where b.token_id = deleted.id)
     select * from deleted order by created_at, id`,
    [customerId],
  );
}

/** Deletes the buckets of the customer's expired tokens, which are no longer used. */
export async function deleteExpiredBuckets(tx: Sql, customerId: string, now: Date): Promise<void> {
  await tx.run(
    `delete from rate_buckets
      where token_id in (select id from api_tokens where customer_id = $1 and expires_at <= $2)`,
    [customerId, now],
  );
}

// ---- the lookup of a bearer token: one read for every request, so that a revocation takes effect at once

/** The token columns are null when no token has this digest. */
export interface BearerRow extends LimitColumns {
  readonly id: string | null;
  readonly customer_id: string;
  readonly scope: Scope;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
  readonly frozen: boolean;
  readonly limits_version: number;
  /** The version of the operator's maintenance windows and policies. */
  readonly rules_version: bigint;
}

const BEARER = `select t.id, t.customer_id, t.scope, t.expires_at, t.last_used_at,
    t.limit_chain, t.limits, t.ip_cidrs_sealed, t.limits_version,
    c.frozen_at is not null as frozen, s.rules_version
  from service s
  left join api_tokens t on t.digest = $1
  left join customers c on c.id = t.customer_id`;

export async function findBearer(sql: Sql, digest: Buffer): Promise<BearerRow | undefined> {
  return await sql.row<BearerRow>(BEARER, [digest]);
}

/**
 * The same with its rate limit bucket; both bucket times are null without a valid token. Times in ms since
 * 1970.
 */
export interface RateLimitedBearerRow extends BearerRow {
  readonly now_ms: number;
  /** When the bucket is full again; null: the request was not allowed. */
  readonly drawn_ms: number | null;
  /** The same before this request; null if it was allowed. */
  readonly was_ms: number | null;
}

const epochMsSql = (time: string) => `(extract(epoch from ${time}) * 1000)::float8`;

/** The time that one request costs. */
const COST_SQL = 'make_interval(secs => $4 / 1000.0)';
/** A draw that waits for others has the time at which it began to. */
const WAIT_MAX_S = 30;
/** Far later than an empty bucket is full again: the clock of the database was set back. */
const IMPOSSIBLE_SQL = `b.tat > excluded.tat + make_interval(secs => ${WAIT_MAX_S} + $4 * 2 * $5 / 1000.0)`;

/** A constant: the statements of every request are looked up by their text. */
const BEARER_AND_DRAW = `with bearer as (${BEARER}), clock as materialized (select clock_timestamp() as now),
  drawn as (
    insert into rate_buckets as b (token_id, bucket, tat)
    select id, $3, clock.now + ${COST_SQL} from bearer, clock
     where id is not null and (expires_at is null or expires_at > $2)
    on conflict (token_id, bucket) do update
      set tat = case when ${IMPOSSIBLE_SQL} then excluded.tat
                     else greatest(b.tat, excluded.tat - ${COST_SQL}) + ${COST_SQL} end
      where b.tat <= excluded.tat - ${COST_SQL} + make_interval(secs => $4 * ($5 - 1) / 1000.0)
         or ${IMPOSSIBLE_SQL}
    returning tat)
  select bearer.*, ${epochMsSql('clock.now')} as now_ms, ${epochMsSql('drawn.tat')} as drawn_ms,
         case when drawn.tat is null then
           (select ${epochMsSql('tat')} from rate_buckets b
             where b.token_id = bearer.id and b.bucket = $3) end as was_ms
    from bearer cross join clock left join drawn on true`;

/** Does the same, and consumes from the token's bucket in the database in the same statement. */
export async function findBearerAndConsume(
  sql: Sql,
  draw: {
    readonly digest: Buffer;
    /** On the business clock: an expired token consumes nothing. */
    readonly now: Date;
    readonly bucket: string;
    readonly costMs: number;
    readonly capacity: number;
  },
): Promise<RateLimitedBearerRow | undefined> {
  const { digest, now, bucket, costMs, capacity } = draw;
  return await sql.row<RateLimitedBearerRow>(BEARER_AND_DRAW, [digest, now, bucket, costMs, capacity]);
}

/** Updates when the token was last used, at most once a minute. */
export async function touchToken(sql: Sql, id: string, now: Date, refreshBefore: Date): Promise<void> {
  await sql.run(
    `update api_tokens set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at <= $3)`,
    [id, now, refreshBefore],
  );
}

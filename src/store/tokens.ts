import type { Sql } from '../kernel/sql.ts';
import type { PageRequest } from '../spec/lists.ts';
import type { Scope } from '../spec/scopes.ts';
import { type Page, readPage } from './page.ts';

export interface TokenRow {
  readonly id: string;
  readonly name: string;
  readonly scope: Scope;
  readonly last_used_at: Date | null;
  readonly expires_at: Date | null;
  readonly created_at: Date;
}

const COLUMNS = 'id, name, scope, last_used_at, expires_at, created_at';

export async function insertToken(
  tx: Sql,
  row: {
    readonly id: string;
    readonly customerId: string;
    readonly name: string;
    readonly scope: Scope;
    readonly digest: Buffer;
    readonly expiresAt: Date | null;
    readonly createdAt: Date;
  },
): Promise<TokenRow> {
  const [made] = await tx.rows<TokenRow>(
    `insert into api_tokens (id, customer_id, name, scope, digest, expires_at, created_at)
     values ($1, $2, $3, $4, $5, $6, $7) returning ${COLUMNS}`,
    [row.id, row.customerId, row.name, row.scope, row.digest, row.expiresAt, row.createdAt],
  );
  if (!made) throw new Error('an inserted token came back without its row');
  return made;
}

/** Counts to `limit` and no further. */
export async function countTokens(tx: Sql, customerId: string, limit: number): Promise<number> {
  const row = await tx.row<{ count: bigint }>(
    `select count(*) from (select 1 from api_tokens where customer_id = $1 limit $2) as held`,
    [customerId, limit],
  );
  return Number(row?.count ?? 0n);
}

/** All tokens of a customer, newest first: their number is bounded by the quota. */
export async function listTokens(tx: Sql, customerId: string): Promise<TokenRow[]> {
  return await tx.rows<TokenRow>(
    `select ${COLUMNS} from api_tokens where customer_id = $1 order by created_at desc, id desc`,
    [customerId],
  );
}

/** The same page by page: the quota bounds what a filter or a sort has to look at. */
export async function pageTokens(tx: Sql, customerId: string, page: PageRequest): Promise<Page<TokenRow>> {
  return await readPage<TokenRow>(
    tx,
    {
      columns: COLUMNS,
      from: 'api_tokens',
      where: 'customer_id = ?',
      values: [customerId],
      id: { column: 'id', type: 'uuid' },
      sorts: {
        created_at: { column: 'created_at', type: 'timestamptz' },
        name: { column: 'name', type: 'text' },
      },
      filters: { scope: { where: 'scope = ?' }, name: { where: 'name = ?' } },
    },
    page,
  );
}

/** Removes the token with its buckets; undefined when the customer has no such token. It stops working with the commit. */
export async function deleteToken(tx: Sql, customerId: string, id: string): Promise<TokenRow | undefined> {
  return await tx.row<TokenRow>(
    `with gone as (delete from api_tokens where id = $1 and customer_id = $2 returning ${COLUMNS}),
     buckets as (delete from rate_buckets b using gone where b.token_id = gone.id)
     select * from gone`,
    [id, customerId],
  );
}

/** Removes the buckets of the customer's tokens that have expired: nothing draws on them any more. */
export async function deleteExpiredBuckets(tx: Sql, customerId: string, now: Date): Promise<void> {
  await tx.run(
    `delete from rate_buckets
      where token_id in (select id from api_tokens where customer_id = $1 and expires_at <= $2)`,
    [customerId, now],
  );
}

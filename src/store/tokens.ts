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
  const [inserted] = await tx.rows<TokenRow>(
    `insert into api_tokens (id, customer_id, name, scope, digest, expires_at, created_at)
     values ($1, $2, $3, $4, $5, $6, $7) returning ${COLUMNS}`,
    [row.id, row.customerId, row.name, row.scope, row.digest, row.expiresAt, row.createdAt],
  );
  if (!inserted) throw new Error('the insert of a token did not return its row');
  return inserted;
}

/** Counts up to `limit`. */
export async function countTokens(tx: Sql, customerId: string, limit: number): Promise<number> {
  const row = await tx.row<{ count: bigint }>(
    `select count(*) from (select 1 from api_tokens where customer_id = $1 limit $2) as counted`,
    [customerId, limit],
  );
  return Number(row?.count ?? 0n);
}

/** Lists all tokens of a customer, newest first. The quota bounds their number. */
export async function listTokens(tx: Sql, customerId: string): Promise<TokenRow[]> {
  return await tx.rows<TokenRow>(
    `select ${COLUMNS} from api_tokens where customer_id = $1 order by created_at desc, id desc`,
    [customerId],
  );
}

/** Pages through the customer's tokens. The quota bounds the rows that a filter or a sort scans. */
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

/**
 * Deletes the token with its buckets; undefined if the customer has no such token. It stops working on
 * commit.
 */
export async function deleteToken(tx: Sql, customerId: string, id: string): Promise<TokenRow | undefined> {
  return await tx.row<TokenRow>(
    `with deleted as (delete from api_tokens where id = $1 and customer_id = $2 returning ${COLUMNS}),
     buckets as (delete from rate_buckets b using deleted where b.token_id = deleted.id)
     select * from deleted`,
    [id, customerId],
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

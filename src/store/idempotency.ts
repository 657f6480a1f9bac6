/**
 * Stored responses for the Idempotency-Key header. A response is inserted in the transaction of its request,
 * so both commit or neither does. The unique row makes a concurrent request with the same key wait for that
 * transaction.
 */
import type { Sql } from '../kernel/sql.ts';

/** SQLSTATE of `key_taken()`, for a statement that stores its own response. */
export const KEY_TAKEN = 'SK002';

export interface StoredResponse {
  readonly fingerprint: string;
  /** HTTP status of the response. */
  readonly status: number;
  readonly answer: Buffer;
  readonly request_id: string;
}

export async function findStoredResponse(
  tx: Sql,
  key: { customerId: string; keyDigest: Buffer; retainedSince: Date },
): Promise<StoredResponse | undefined> {
  return await tx.row<StoredResponse>(
    `select fingerprint, status, answer, request_id from idempotency
      where customer_id = $1 and key_digest = $2 and created_at > $3`,
    [key.customerId, key.keyDigest, key.retainedSince],
  );
}

/**
 * Deletes a stored response so that another can take its place; one stored meanwhile by another request
 * stays.
 */
export async function deleteStoredResponse(
  tx: Sql,
  stored: { readonly customerId: string; readonly keyDigest: Buffer; readonly requestId: string },
): Promise<void> {
  await tx.run(
    `delete from idempotency
      where customer_id = $customerId and key_digest = $keyDigest and request_id = $requestId`,
    stored,
  );
}

/** A response to store. Its names fit those of other rows, because a statement may write it with them. */
export interface ResponseRow {
  readonly customer_id: string;
  readonly key_digest: Buffer;
  readonly fingerprint: string;
  readonly answer: Buffer;
  /** HTTP status. */
  readonly answer_status: number;
  readonly request_id: string;
  /** A response stored before this has expired. */
  readonly retained_since: Date;
  readonly now: Date;
}

/**
 * Stores the response of a ResponseRow, replacing an expired one, for each row of `from`. Changes no row when
 * another request has the key. Waits for a concurrent one, because the row is locked until its transaction
 * ends.
 */
export const storeResponseSql = (from: string) => `insert into idempotency as i
    (customer_id, key_digest, fingerprint, answer, request_id, created_at, status)
  select $customer_id, $key_digest::bytea, $fingerprint, $answer::bytea, $request_id, $now::timestamptz,
         $answer_status::int ${from}
  on conflict (customer_id, key_digest) do update
    set fingerprint = excluded.fingerprint, answer = excluded.answer, request_id = excluded.request_id,
        created_at = excluded.created_at, status = excluded.status
    where i.created_at <= $retained_since`;

const STORE_RESPONSE = storeResponseSql('');

/** Stores the first response of a key. Returns false when another request has the key. */
export async function storeResponse(tx: Sql, row: ResponseRow): Promise<boolean> {
  return (await tx.run(STORE_RESPONSE, row)) === 1;
}

/**
 * Stored responses for the Idempotency-Key header. A response is inserted in the transaction of its request,
 * so both commit or neither does. The unique row makes a concurrent request with the same key wait for that
 * transaction.
 */
import type { Sql } from '../kernel/sql.ts';

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

/**
 * Stores the first response of a key, replacing an expired one. Returns false when another request has the
 * key. Waits for a concurrent one, because the row is locked until its transaction ends.
 */
export async function storeResponse(
  tx: Sql,
  row: StoredResponse & { customerId: string; keyDigest: Buffer; retainedSince: Date; now: Date },
): Promise<boolean> {
  const stored = await tx.run(
    `insert into idempotency as i
       (customer_id, key_digest, fingerprint, answer, request_id, created_at, status)
     values ($customerId, $keyDigest, $fingerprint, $answer, $request_id, $now, $status)
     on conflict (customer_id, key_digest) do update
       set fingerprint = excluded.fingerprint, answer = excluded.answer, request_id = excluded.request_id,
           created_at = excluded.created_at, status = excluded.status
       where i.created_at <= $retainedSince`,
    row,
  );
  return stored === 1;
}

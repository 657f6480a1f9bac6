/** Who sends a bearer token, and whether his bucket still had a draw. Nothing is cached: a revocation counts at once. */
import { digest } from '../../kernel/secrets.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { Scope } from '../../spec/scopes.ts';
import { type BearerRow, findBearer, findBearerAndConsume, touchToken } from '../../store/bearer.ts';
import type { Service } from '../context.ts';
import { type BucketName, type BucketRules, costMs, type Draw, type MemoryBuckets } from './buckets.ts';

export interface Bearer {
  /** Stored id. */
  readonly tokenId: string;
  readonly customerId: string;
  readonly scope: Scope;
  readonly frozen: boolean;
}

export interface BearerIdentity {
  /** null: no such token, or it has expired. */
  readonly bearer: Bearer | null;
  /** null where there is no bearer. */
  readonly draw: Draw | null;
  /** Of the operator's rules, as it is now. */
  readonly rulesVersion: bigint;
}

export interface Buckets {
  readonly rules: BucketRules;
  /** null: the database keeps them for all processes. */
  readonly memory: MemoryBuckets | null;
}

/** Reads the token's owner and draws once from its bucket, in one statement. `token` is the plaintext, or any text. */
export async function identifyBearer(
  service: Service,
  token: string,
  { buckets, bucket }: { readonly buckets: Buckets; readonly bucket: BucketName },
): Promise<BearerIdentity> {
  const now = service.clock.now();
  const { row, draw } = await readAndDraw(service, digest(token), buckets, bucket, now);
  if (!row) throw new Error('the database has no stamp');
  if (row.id === null || (row.expires_at !== null && row.expires_at <= now)) {
    return { bearer: null, draw: null, rulesVersion: row.rules_version };
  }
  await touchIfStale(service, row.id, row.last_used_at, now);
  const bearer = {
    tokenId: row.id,
    customerId: row.customer_id,
    scope: row.scope,
    frozen: row.frozen,
  };
  return { bearer, draw, rulesVersion: row.rules_version };
}

async function readAndDraw(
  service: Service,
  tokenDigest: Buffer,
  { rules, memory }: Buckets,
  bucket: BucketName,
  now: Date,
): Promise<{ row: BearerRow | undefined; draw: Draw | null }> {
  const rule = rules[bucket];
  if (memory) {
    const row = await findBearer(service.reads, tokenDigest);
    const known = row && row.id !== null && (row.expires_at === null || row.expires_at > now);
    return { row, draw: known ? memory.draw(`${row.id} ${bucket}`, rule, Date.now()) : null };
  }
  const cost = costMs(rule);
  const row = await findBearerAndConsume(service.reads, {
    ...{ digest: tokenDigest, now, bucket, costMs: cost, capacity: rule.capacity },
  });
  if (!row) return { row, draw: null };
  // What the statement saw of the bucket when it began may be older than what refused it: less than one draw was left.
  const emptyMs = row.now_ms + (rule.capacity - 1) * cost;
  const fullAtMs = row.drawn_ms ?? Math.max(row.was_ms ?? 0, emptyMs);
  return { row, draw: { allowed: row.drawn_ms !== null, fullAtMs, nowMs: row.now_ms } };
}

/** SPEC: at most once a minute. */
async function touchIfStale(service: Service, id: string, lastUsedAt: Date | null, now: Date): Promise<void> {
  const before = new Date(now.getTime() - LIMITS.tokenLastUsedRefreshS * SECOND_MS);
  if (lastUsedAt === null || lastUsedAt <= before) await touchToken(service.db, id, now, before);
}

/**
 * Identifies a bearer token and draws from its bucket. Nothing is cached, so a revocation takes effect at
 * once.
 */
import { digest } from '../../kernel/secrets.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { Scope } from '../../spec/scopes.ts';
import {
  type BearerRow,
  findBearer,
  findBearerAndConsume,
  touchToken,
} from '../../store/customers/tokens.ts';
import type { Service } from '../context.ts';
import { type BucketName, type BucketRules, costMs, type Draw, type MemoryBuckets } from './buckets.ts';
import { type ActiveLimits, activeLimits } from './limits/active.ts';

export interface Bearer {
  /** Internal id. */
  readonly tokenId: string;
  readonly customerId: string;
  readonly scope: Scope;
  readonly frozen: boolean;
  /** Undefined: unlimited. */
  readonly limits: ActiveLimits | undefined;
  readonly limitsVersion: number;
}

export interface BearerIdentity {
  /** Null if the token is unknown or expired. */
  readonly bearer: Bearer | null;
  /** Null without a bearer. */
  readonly draw: Draw | null;
  /** The current version of the operator's rules. */
  readonly rulesVersion: bigint;
}

export interface Buckets {
  readonly rules: BucketRules;
  /** Null: the database keeps them for all processes. */
  readonly memory: MemoryBuckets | null;
}

/** Reads the token's owner and draws from its bucket in one statement. `token` is untrusted text. */
export async function identifyBearer(
  service: Service,
  token: string,
  { buckets, bucket }: { readonly buckets: Buckets; readonly bucket: BucketName },
): Promise<BearerIdentity> {
  const now = service.clock.now();
  const { row, draw } = await readAndDraw(service, digest(token), buckets, bucket, now);
  if (!row) throw new Error('the database has no identity row');
  if (row.id === null || (row.expires_at !== null && row.expires_at <= now)) {
    return { bearer: null, draw: null, rulesVersion: row.rules_version };
  }
  // SPEC: updated at most once a minute.
  const staleBefore = new Date(now.getTime() - LIMITS.tokenLastUsedRefreshS * SECOND_MS);
  if (row.last_used_at === null || row.last_used_at <= staleBefore)
    await touchToken(service.db, row.id, now, staleBefore);
  const bearer = {
    tokenId: row.id,
    customerId: row.customer_id,
    scope: row.scope,
    frozen: row.frozen,
    limits: activeLimits(service.keys, row.id, row),
    limitsVersion: row.limits_version,
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
    digest: tokenDigest,
    now,
    bucket,
    costMs: cost,
    capacity: rule.capacity,
  });
  if (!row) return { row, draw: null };
  // The statement's snapshot of the bucket may predate the draw that emptied it: less than one draw was left.
  const emptyMs = row.now_ms + (rule.capacity - 1) * cost;
  const fullAtMs = row.drawn_ms ?? Math.max(row.was_ms ?? 0, emptyMs);
  return { row, draw: { allowed: row.drawn_ms !== null, fullAtMs, nowMs: row.now_ms } };
}

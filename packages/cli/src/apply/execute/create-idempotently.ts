/**
 * Creates a resource once. The idempotency key is derived from the request and from the state before it: the
 * IDs of resources that already have the name. So two runs of one plan, concurrent or one after a crash,
 * place one order.
 *
 * The service keeps the first response to a key for 24 hours, so it may be an old one:
 * - A replayed refusal (for example, for an insufficient balance) is marked as replayed and names its
 *   request. The next key is derived from that request ID, so every run that gets the same refusal takes the
 *   same next key.
 * - A resource that was deleted or renamed since is not the wanted one. The next key is derived from its ID.
 * - A response to another token cannot be read (409). If a resource with the name has appeared since, use it;
 *   otherwise take the next key.
 */
import { createHash } from 'node:crypto';
import { type CallOptions, isApiError } from '@skerry/sdk';
import { nullIf } from '../../find.ts';

export interface CreatedResource {
  readonly id: string;
  readonly name: string;
  readonly status?: string;
}

export interface CreateRequest {
  /** Project, kind, name, and body. */
  readonly keyParts: readonly unknown[];
  readonly name: string;
  /** IDs of the resources that had the name when the plan was made. */
  readonly seen: readonly string[];
  readonly signal: AbortSignal;
  readonly create: (call: CallOptions) => Promise<CreatedResource>;
  readonly get: (id: string) => Promise<CreatedResource>;
  readonly list: () => Promise<readonly CreatedResource[]>;
}

/** More than the responses that a day of attempts leaves behind. */
const MAX_KEYS = 50;
/** A genuine 409 for this request occurs again with another key. */
const MAX_CONFLICTS = 3;

/** Returns the ID of the resource, created now or by another run of the same plan. */
export async function createIdempotently(making: CreateRequest): Promise<string> {
  const { keyParts, seen, signal } = making;
  let key = digestOf([keyParts, [...seen].sort()]);
  let conflicts = 0;
  for (let tries = 1; ; tries += 1) {
    try {
      const made = await making.create({ signal, idempotencyKey: `apply-${key}` });
      if (await exists(made.id, making)) return made.id;
      if (tries >= MAX_KEYS) throw new Error('it was created and deleted again');
      key = digestOf([key, made.id]);
    } catch (error) {
      if (!isApiError(error) || tries >= MAX_KEYS) throw error;
      if (error.replayed) key = digestOf([key, error.requestId]);
      else if (error.status === 409) {
        const named = (await making.list()).filter((one) => matchesName(making.name, one));
        const other = named.find(({ id }) => !seen.includes(id));
        if (other) return other.id;
        conflicts += 1;
        if (conflicts >= MAX_CONFLICTS) throw error;
        key = digestOf([key, 'taken']);
      } else throw error;
    }
  }
}

async function exists(id: string, { name, get }: CreateRequest): Promise<boolean> {
  const found = await nullIf('not_found', get(id));
  return found !== null && matchesName(name, found);
}

function matchesName(name: string, { name: has, status }: CreatedResource): boolean {
  return has === name && status !== 'destroying';
}

function digestOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

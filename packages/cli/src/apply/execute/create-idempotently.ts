/**
 * Orders that are made once. The key of what makes something comes from what is made and from what was seen before it: ids of the
 * things that have its name already. So two runs of one plan, at once or one after the other was killed, are one order.
 *
 * The service keeps the first answer to a key for 24 hours, which may be of yesterday:
 * - a kept refusal (a balance that was short, say) says that it is one, and names its request: the next key is made from that one's
 *   id, and whoever else is refused by it takes the same next key;
 * - a thing that is gone again, or has another name by now, is not the one that is wanted: the next key is made from its id;
 * - an answer that was given to another token cannot be read (409): what has come under that name since is the thing, else the next key.
 */
import { createHash } from 'node:crypto';
import { type CallOptions, isApiError } from '@skerry/sdk';

export interface CreatedResource {
  readonly id: string;
  readonly name: string;
  readonly status?: string;
}

export interface CreateRequest {
  /** Project, kind, name, body. */
  readonly keyParts: readonly unknown[];
  readonly name: string;
  /** Ids of those that had the name when it was compared. */
  readonly seen: readonly string[];
  readonly signal: AbortSignal;
  readonly create: (call: CallOptions) => Promise<CreatedResource>;
  readonly get: (id: string) => Promise<CreatedResource>;
  readonly list: () => Promise<readonly CreatedResource[]>;
}

/** More answers than a day of tries leaves behind. */
const MAX_KEYS = 50;
/** A 409 that is really of the order comes again with another key. */
const MAX_CONFLICTS = 3;

/** Gives the id of what was made, now or by a run of the same plan. */
export async function createIdempotently(making: CreateRequest): Promise<string> {
  const { keyParts, seen, signal } = making;
  let key = digestOf([keyParts, [...seen].sort()]);
  let conflicts = 0;
  for (let tries = 1; ; tries += 1) {
    try {
      const made = await making.create({ signal, idempotencyKey: `apply-${key}` });
      if (await exists(made.id, making)) return made.id;
      if (tries >= MAX_KEYS) throw new Error('it was made, and is gone already');
      key = digestOf([key, made.id]);
    } catch (error) {
      if (!isApiError(error) || tries >= MAX_KEYS) throw error;
      if (error.replayed) key = digestOf([key, error.requestId]);
      else if (error.status === 409) {
        const [other] = await findNew(making);
        if (other) return other.id;
        conflicts += 1;
        if (conflicts >= MAX_CONFLICTS) throw error;
        key = digestOf([key, 'taken']);
      } else throw error;
    }
  }
}

async function exists(id: string, { name, get }: CreateRequest): Promise<boolean> {
  try {
    return matchesName(name, await get(id));
  } catch (error) {
    if (isApiError(error, 'not_found')) return false;
    throw error;
  }
}

async function findNew({ name, seen, list }: CreateRequest): Promise<readonly CreatedResource[]> {
  return (await list()).filter((one) => matchesName(name, one) && !seen.includes(one.id));
}

function matchesName(name: string, { name: has, status }: CreatedResource): boolean {
  return has === name && status !== 'destroying';
}

function digestOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

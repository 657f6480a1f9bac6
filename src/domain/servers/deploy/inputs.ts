/** The inputs of a server that its customer chooses: SSH keys, a root password, user data, and tags. */
import { rootPasswordHasher } from '../../../kernel/crypt/crypt.ts';
import { fail, invalidRequest, quotaExceeded, unknownReference } from '../../../kernel/fail.ts';
import { parseId } from '../../../kernel/ids.ts';
import { KeyedMutex } from '../../../kernel/keyed-mutex.ts';
import { isPrintable } from '../../../kernel/printable.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { findOwnKeys } from '../../../store/servers/reinstalls.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { type OrderNeeds, requireDeployable } from './deploy.ts';

export interface ChosenKeys {
  readonly ids: readonly string[];
  /** The key texts, in the same order. The server keeps them even if the customer deletes the keys. */
  readonly publicKeys: readonly string[];
}

/** Deduplicates the keys. Refuses a key that is not the customer's by its position, such as `ssh_keys.1`. */
export async function chooseKeys(
  tx: Sql,
  customerId: string,
  shownIds: readonly string[],
): Promise<ChosenKeys> {
  const ids = shownIds.map((shown) => parseId('sshKey', shown));
  const known = ids.filter((id) => id !== undefined);
  const rows = await findOwnKeys(tx, customerId, known);
  const publicKeysById = new Map(rows.map((row) => [row.id, row.public_key]));
  for (const [index, id] of ids.entries()) {
    if (id === undefined || !publicKeysById.has(id)) unknownReference(`ssh_keys.${index}`);
  }
  const uniqueIds = [...new Set(known)];
  return { ids: uniqueIds, publicKeys: uniqueIds.map((id) => publicKeysById.get(id) ?? '') };
}

const hashQueue = new KeyedMutex();

/** Refuses with `bad_password` {hint}. */
export function requireRootPassword(password: string): void {
  const length = [...password].length;
  if (length < LIMITS.rootPasswordMinChars)
    refusePassword('The root password must have 12 or more characters.');
  if (length > LIMITS.rootPasswordMaxChars) {
    refusePassword('The root password must have at most 128 characters, and 12 or more.');
  }
  if (!isPrintable(password)) {
    refusePassword('The root password must have 12 or more characters, all of them printable.');
  }
}

function refusePassword(hint: string): never {
  fail('bad_password', { hint }, hint);
}

/**
 * Returns the crypt hash for the guest; the plain password is never stored. Hashing is expensive and uses one
 * thread, so a customer's deploys hash one at a time, and only while they can still pay. Refuses as `deploy`
 * would now.
 */
export async function hashRootPassword(
  service: Service,
  actor: CustomerActor,
  order: OrderNeeds,
  password: string,
): Promise<string> {
  return await hashQueue.runExclusive(actor.customerId, async () => {
    await requireDeployable(service, actor, order);
    return await rootPasswordHasher.hash(password);
  });
}

/** Decodes cloud-init user data from Base64; null if there is none. Refuses with 400. */
export function readUserData(text: string | null | undefined): Buffer | null {
  if (text === null || text === undefined || text === '') return null;
  const field = 'user_data_b64';
  const data = Buffer.from(text, 'base64');
  // Accept canonical Base64 only: Node skips invalid characters, and the round trip reveals them.
  if (data.toString('base64') !== text) {
    invalidRequest(
      [{ field, issue: 'invalid_format' }],
      'user_data_b64 must be Base64 with padding and without line breaks.',
    );
  }
  const max = LIMITS.userDataMaxBytes;
  if (data.length > max) {
    invalidRequest(
      [{ field, issue: 'max_length', max }],
      `User data can have at most ${max} bytes before Base64 encoding.`,
    );
  }
  return data;
}

/** Refuses more tags than the quota allows. */
export function requireTagCount(service: Service, tags: readonly string[]): void {
  const limit = service.settings.quotas.tagsPerServer;
  if (tags.length > limit) {
    quotaExceeded('tagsPerServer', limit, { field: 'tags' });
  }
}

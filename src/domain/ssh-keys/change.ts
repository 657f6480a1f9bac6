/** Creates and deletes SSH keys. */

import { invalidRequest, notFound, requireQuota } from '../../kernel/fail.ts';
import { newId, parseId } from '../../kernel/ids.ts';
import { parseDisplayName } from '../../kernel/printable.ts';
import type { Sql } from '../../kernel/sql.ts';
import { parseSshPublicKey, SshKeyError, type SshPublicKey } from '../../kernel/ssh-public-key.ts';
import type { SshKey, SshKeyBody } from '../../spec/schemas/ssh-key.ts';
import { lockCustomer } from '../../store/customers/customers.ts';
import { countSshKeys, deleteSshKey, insertSshKey, type SshKeyRow } from '../../store/ssh-keys.ts';
import type { CustomerActor, Service } from '../context.ts';
import { readQuotas } from '../customers/own-limits.ts';
import { recordAudit } from '../record.ts';
import { requireInsideNew } from '../tokens/limits/active.ts';
import { sshKeyObject } from './read.ts';

/**
 * Stores a key under a name. Duplicates are allowed. Fails with 400 on `public_key`, or with
 * `limit_reached`.
 */
export async function createSshKey(
  service: Service,
  actor: CustomerActor,
  body: SshKeyBody,
): Promise<SshKey> {
  const row = prepareSshKey(service, actor, body);
  return await service.db.transaction(async (tx) => {
    const created = await storeSshKey(tx, service, actor, row);
    await actor.saveResponse?.(tx, created);
    return created;
  });
}

/** Reads a new key without storing it. Fails as `createSshKey` does, but for the quota. */
export function prepareSshKey(service: Service, actor: CustomerActor, body: SshKeyBody): SshKeyRow {
  const name = parseDisplayName(body.name) ?? invalidRequest([{ field: 'name', issue: 'invalid_format' }]);
  const key = parsePublicKey(body.public_key);
  requireInsideNew(actor.limits, {});
  const now = service.clock.now();
  return {
    id: newId(now),
    customer_id: actor.customerId,
    name,
    type: key.type,
    fingerprint: key.fingerprint,
    public_key: key.text,
    created_at: now,
  };
}

/** Stores a prepared key in the caller's transaction. Refuses with `limit_reached`. */
export async function storeSshKey(
  tx: Sql,
  service: Service,
  actor: CustomerActor,
  row: SshKeyRow,
): Promise<SshKey> {
  // Serialize, so that concurrent requests cannot exceed the quota.
  await lockCustomer(tx, actor.customerId);
  const { sshKeys: limit } = await readQuotas(service, tx, actor.customerId);
  requireQuota('sshKeys', limit, await countSshKeys(tx, actor.customerId, limit));
  await insertSshKey(tx, row);
  const created = sshKeyObject(row);
  await recordAudit(tx, { actor, action: 'ssh_key.create', resource: created.id }, row.created_at);
  return created;
}

function parsePublicKey(text: string): SshPublicKey {
  try {
    return parseSshPublicKey(text);
  } catch (error) {
    if (!(error instanceof SshKeyError)) throw error;
    return invalidRequest([{ field: 'public_key', issue: error.issue, ...error.extras }], error.message);
  }
}

/** Deletes a key by its public id; fails with `not_found`. Servers created with it keep it. */
export async function removeSshKey(service: Service, actor: CustomerActor, shownId: string): Promise<void> {
  const id = parseId('sshKey', shownId) ?? notFound('sshKey');
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    if (!(await deleteSshKey(tx, actor.customerId, id))) notFound('sshKey');
    await recordAudit(tx, { actor, action: 'ssh_key.delete', resource: shownId }, now);
  });
}

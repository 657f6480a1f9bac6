/** Reads a customer's SSH keys. */
import { notFound } from '../../kernel/fail.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { Page, PageRequest } from '../../spec/lists.ts';
import type { ListedSshKey, SshKey } from '../../spec/schemas/ssh-key.ts';
import { findSshKey, type ListedSshKeyRow, pageSshKeys, type SshKeyRow } from '../../store/ssh-keys.ts';
import type { CustomerActor, Service } from '../context.ts';

/** Returns a page of keys without the key text. */
export async function listSshKeys(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<Page<ListedSshKey>> {
  const { rows, next } = await pageSshKeys(service.db, actor.customerId, page, actor.limits?.reach);
  return { items: rows.map(listedSshKeyObject), next };
}

/** Returns a key by its public id; fails with `not_found`. */
export async function getSshKey(service: Service, actor: CustomerActor, shownId: string): Promise<SshKey> {
  const id = parseId('sshKey', shownId) ?? notFound('sshKey');
  return sshKeyObject((await findSshKey(service.db, actor.customerId, id)) ?? notFound('sshKey'));
}

function listedSshKeyObject(row: ListedSshKeyRow): ListedSshKey {
  return {
    id: formatId('sshKey', row.id),
    object: 'ssh_key',
    name: row.name,
    type: row.type,
    fingerprint: row.fingerprint,
    created_at: formatRfc3339(row.created_at),
  };
}

export function sshKeyObject(row: SshKeyRow): SshKey {
  return { ...listedSshKeyObject(row), public_key: row.public_key };
}

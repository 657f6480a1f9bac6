/** Reads a customer's SSH keys. */
import { notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { ListedSshKey, SshKey } from '../../spec/schemas/ssh-key.ts';
import { findSshKey, pageSshKeys } from '../../store/ssh-keys.ts';
import type { CustomerActor, Service } from '../context.ts';
import { listedSshKeyObject, sshKeyObject } from './object.ts';

/** Returns a page of keys without the key text. */
export async function listSshKeys(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<{ items: ListedSshKey[]; next: PagePosition | null }> {
  const { rows, next } = await pageSshKeys(service.db, actor.customerId, page);
  return { items: rows.map(listedSshKeyObject), next };
}

/** Returns a key by its public id; fails with `not_found`. */
export async function getSshKey(service: Service, actor: CustomerActor, shownId: string): Promise<SshKey> {
  const id = parseId('sshKey', shownId) ?? notFound('sshKey');
  return sshKeyObject((await findSshKey(service.db, actor.customerId, id)) ?? notFound('sshKey'));
}

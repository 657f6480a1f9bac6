/** SSH keys. */
import { createSshKey, removeSshKey } from '../../../domain/ssh-keys/change.ts';
import { getSshKey, listSshKeys } from '../../../domain/ssh-keys/read.ts';
import { BY_AGE_OR_NAME } from '../../../spec/lists.ts';
import { ListedSshKey, SSH_KEY_TYPES, SshKey, SshKeyBody } from '../../../spec/schemas/ssh-key.ts';
import { listRoute, type Route, route } from '../route.ts';

export const SSH_KEY_ROUTES: readonly Route[] = [
  listRoute({
    id: 'ssh_keys.list',
    path: '/ssh-keys',
    scope: 'read',
    summary: 'List SSH keys',
    description: 'Lists your SSH keys without `public_key`.',
    list: { ...BY_AGE_OR_NAME, filters: { name: {}, type: { allowed: SSH_KEY_TYPES } } },
    reply: ListedSshKey,
    run: ({ service, actor, page }) => listSshKeys(service, actor, page),
  }),
  route({
    id: 'ssh_keys.create',
    method: 'POST',
    path: '/ssh-keys',
    scope: 'write',
    summary: 'Add an SSH key',
    status: 201,
    errorStatuses: [422],
    audit: 'ssh_key.create',
    body: SshKeyBody,
    example: {
      name: 'laptop',
      public_key:
        'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY me@laptop',
    },
    reply: SshKey,
    run: ({ service, actor, body }) => createSshKey(service, actor, body),
  }),
  route({
    id: 'ssh_keys.get',
    method: 'GET',
    path: '/ssh-keys/{id}',
    scope: 'read',
    summary: 'Retrieve an SSH key',
    reply: SshKey,
    run: ({ service, actor, params }) => getSshKey(service, actor, params.id),
  }),
  route({
    id: 'ssh_keys.delete',
    method: 'DELETE',
    path: '/ssh-keys/{id}',
    scope: 'write',
    summary: 'Delete an SSH key',
    description: 'Servers created with the key keep it.',
    status: 204,
    audit: 'ssh_key.delete',
    reply: null,
    run: ({ service, actor, params }) => removeSshKey(service, actor, params.id),
  }),
];

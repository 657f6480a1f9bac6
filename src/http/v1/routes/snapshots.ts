/** Snapshots. */
import { createSnapshot, deleteSnapshot, patchSnapshot } from '../../../domain/snapshots/change.ts';
import { getSnapshot, listSnapshots } from '../../../domain/snapshots/read.ts';
import { BY_AGE_OR_NAME, BY_LABEL } from '../../../spec/lists.ts';
import { SNAPSHOT_TYPES, Snapshot, SnapshotBody, SnapshotPatch } from '../../../spec/schemas/snapshot.ts';
import { SNAPSHOT_STATUSES } from '../../../spec/states.ts';
import { listRoute, type Route, route } from '../route.ts';

export const SNAPSHOT_ROUTES: readonly Route[] = [
  listRoute({
    id: 'snapshots.list',
    path: '/snapshots',
    scope: 'read',
    summary: 'List snapshots',
    list: {
      ...BY_AGE_OR_NAME,
      filters: {
        server: { about: 'The id of a server.' },
        status: { allowed: SNAPSHOT_STATUSES },
        name: {},
        type: { allowed: SNAPSHOT_TYPES },
        ...BY_LABEL,
      },
    },
    reply: Snapshot,
    run: ({ service, actor, page }) => listSnapshots(service, actor, page),
  }),
  route({
    id: 'snapshots.create',
    method: 'POST',
    path: '/servers/{id}/snapshots',
    scope: 'write',
    summary: 'Create a snapshot',
    description:
      'Creates a crash-consistent snapshot of a running or stopped server. We send `snapshot.ready` when ' +
      'it completes, or `snapshot.failed` if it fails.',
    status: 201,
    errorStatuses: [409, 422],
    audit: 'snapshot.create',
    starts: 'snapshot.create',
    body: SnapshotBody,
    example: { name: 'before-upgrade' },
    reply: Snapshot,
    run: ({ service, actor, params, body }) => createSnapshot(service, actor, params.id, body),
  }),
  route({
    id: 'snapshots.get',
    method: 'GET',
    path: '/snapshots/{id}',
    scope: 'read',
    summary: 'Retrieve a snapshot',
    reply: Snapshot,
    run: ({ service, actor, params }) => getSnapshot(service, actor, params.id),
  }),
  route({
    id: 'snapshots.update',
    method: 'PATCH',
    path: '/snapshots/{id}',
    scope: 'write',
    summary: 'Update a snapshot',
    description: 'Changes its name, expiry, or protection, or replaces its `labels` as a whole.',
    audit: 'snapshot.update',
    body: SnapshotPatch,
    example: { name: 'before-upgrade', protection: { delete: true } },
    reply: Snapshot,
    run: ({ service, actor, params, body }) => patchSnapshot(service, actor, params.id, body),
  }),
  route({
    id: 'snapshots.delete',
    method: 'DELETE',
    path: '/snapshots/{id}',
    scope: 'write',
    summary: 'Delete a snapshot',
    description: 'You cannot delete a snapshot while it is being created or restored.',
    status: 204,
    errorStatuses: [409],
    audit: 'snapshot.delete',
    starts: 'snapshot.delete',
    reply: null,
    run: ({ service, actor, params }) => deleteSnapshot(service, actor, params.id),
  }),
];

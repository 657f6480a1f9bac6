/** Volumes. */
import { attachVolume, detachVolume } from '../../../domain/volumes/attach.ts';
import { createVolume, deleteVolume, updateVolume } from '../../../domain/volumes/change.ts';
import { getVolume, listVolumes } from '../../../domain/volumes/read.ts';
import { BY_AGE_OR_NAME, BY_LABEL } from '../../../spec/lists.ts';
import { AttachBody, Volume, VolumeBody, VolumePatch } from '../../../spec/schemas/volume.ts';
import { listRoute, type Route, route } from '../route.ts';

export const VOLUME_ROUTES: readonly Route[] = [
  listRoute({
    id: 'volumes.list',
    path: '/volumes',
    scope: 'read',
    summary: 'List volumes',
    list: {
      ...BY_AGE_OR_NAME,
      filters: { name: {}, region: {}, attached_to: { about: 'The id of a server.' }, ...BY_LABEL },
    },
    reply: Volume,
    run: ({ service, actor, page }) => listVolumes(service, actor, page),
  }),
  route({
    id: 'volumes.create',
    method: 'POST',
    path: '/volumes',
    scope: 'write',
    summary: 'Create a volume',
    description: 'A volume uses no disk space until you attach it for the first time.',
    status: 201,
    errorStatuses: [422],
    audit: 'volume.create',
    starts: 'volume.create',
    body: VolumeBody,
    example: { name: 'data', size_gb: 100, region: 'par', filesystem: 'ext4', labels: { env: 'prod' } },
    reply: Volume,
    run: ({ service, actor, body }) => createVolume(service, actor, body),
  }),
  route({
    id: 'volumes.get',
    method: 'GET',
    path: '/volumes/{id}',
    scope: 'read',
    summary: 'Retrieve a volume',
    reply: Volume,
    run: ({ service, actor, params }) => getVolume(service, actor, params.id),
  }),
  route({
    id: 'volumes.update',
    method: 'PATCH',
    path: '/volumes/{id}',
    scope: 'write',
    summary: 'Update a volume',
    description:
      'Renames or enlarges a volume, changes its protection, or replaces its `labels` as a whole. It grows ' +
      'online. You resize the file system on it yourself.',
    errorStatuses: [409, 422],
    audit: 'volume.update',
    starts: 'volume.resize',
    body: VolumePatch,
    example: { size_gb: 200 },
    reply: Volume,
    run: ({ service, actor, params, body }) => updateVolume(service, actor, params.id, body),
  }),
  route({
    id: 'volumes.delete',
    method: 'DELETE',
    path: '/volumes/{id}',
    scope: 'write',
    summary: 'Delete a volume',
    description: 'Permanently deletes a volume and its data. Detach it first.',
    status: 204,
    errorStatuses: [409],
    audit: 'volume.delete',
    starts: 'volume.delete',
    reply: null,
    run: ({ service, actor, params }) => deleteVolume(service, actor, params.id),
  }),
  route({
    id: 'volumes.attach',
    method: 'POST',
    path: '/volumes/{id}/attach',
    scope: 'write',
    summary: 'Attach a volume to a server',
    description:
      'The server must be running or stopped, and in the same region. We send `volume.attached` when it ' +
      'completes.',
    errorStatuses: [409, 422],
    audit: 'volume.attach',
    starts: 'volume.attach',
    body: AttachBody,
    example: { server: 'srv_aaaqk3m7qzb5x2l6v4t7n8wyja' },
    reply: Volume,
    run: ({ service, actor, params, body }) => attachVolume(service, actor, params.id, body),
  }),
  route({
    id: 'volumes.detach',
    method: 'POST',
    path: '/volumes/{id}/detach',
    scope: 'write',
    summary: 'Detach a volume',
    description: 'We send `volume.detached` when it completes.',
    errorStatuses: [409],
    audit: 'volume.detach',
    starts: 'volume.detach',
    reply: Volume,
    run: ({ service, actor, params }) => detachVolume(service, actor, params.id),
  }),
];

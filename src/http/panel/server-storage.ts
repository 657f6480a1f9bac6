/** Volumes and snapshots of a server. */
import { listSnapshots } from '../../domain/snapshots/find.ts';
import { listVolumes } from '../../domain/volumes/find.ts';
import { storageView } from '../../panel/server-storage.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { PageRequest } from '../../spec/lists.ts';
import { serverPartPath } from '../../spec/paths.ts';
import type { Snapshot } from '../../spec/schemas/snapshot.ts';
import type { Volume } from '../../spec/schemas/volume.ts';
import { field } from '../form.ts';
import { body, moment, text } from './fields.ts';
import { type Look, type PanelPage, restForm } from './page.ts';
import { lookedAt, SERVER_PATH, toServer } from './server.ts';

const FIRST: Omit<PageRequest, 'filter'> = {
  ...{ sort: 'created_at', descending: true, after: null, size: LIMITS.pageSizeMax },
};

async function show(look: Look) {
  const { service } = look;
  const actor = look.customer();
  const page = await lookedAt(look);
  const { id, region } = page.server;
  const [volumes, snapshots, ready] = await Promise.all([
    listVolumes(service, actor, { ...FIRST, filter: { region } }),
    listSnapshots(service, actor, { ...FIRST, filter: { server: id } }),
    listSnapshots(service, actor, { ...FIRST, filter: { status: 'ready' } }),
  ]);
  return storageView({
    ...page,
    attached: volumes.items.filter(({ attached_to }) => attached_to === id),
    free: volumes.items.filter(({ attached_to }) => attached_to === null),
    snapshots: snapshots.items,
    foreign: ready.items.filter(({ server }) => server !== id),
    forms: look.forms,
  });
}

const storageOf = (id: string) => serverPartPath(id, 'storage');

export const SERVER_STORAGE_PAGE: PanelPage = {
  path: `${SERVER_PATH}/storage`,
  access: 'customer',
  show,
  forms: {
    attach: restForm<Volume>({
      does: 'volumes.attach',
      params: (form) => ({ id: field(form, 'volume') }),
      body: body({ server: text }),
      names: { server: 'volume' },
      // The path of the operation is the volume's.
      done: (_, { form }) => ({ to: storageOf(field(form, 'server')), notice: 'volume_attached' }),
    }),
    detach: restForm<Volume>({
      does: 'volumes.detach',
      params: (form) => ({ id: field(form, 'key') }),
      done: (_, { form }) => ({ to: storageOf(field(form, 'server')), notice: 'volume_detached' }),
    }),
    snapshot: restForm<Snapshot>({
      does: 'snapshots.create',
      body: body({ name: text, expires_at: moment }),
      done: ({ server }) => ({ to: storageOf(server), notice: 'snapshot_begun' }),
    }),
    restore: restForm({
      does: 'servers.restore',
      body: body({ snapshot: text }),
      done: toServer('restore_begun'),
    }),
  },
};

/** Volumes and snapshots of a server. */
import { listSnapshots } from '../../domain/snapshots/find.ts';
import { listVolumes } from '../../domain/volumes/find.ts';
import { storageView } from '../../panel/server-storage.ts';
import { serverPartPath } from '../../spec/paths.ts';
import type { Snapshot } from '../../spec/schemas/snapshot.ts';
import type { Volume } from '../../spec/schemas/volume.ts';
import { field } from '../form.ts';
import { every } from './every.ts';
import { asTyped, body, moment, text } from './fields.ts';
import { nameTyped } from './name-typed.ts';
import { type Look, type PanelPage, restForm } from './page.ts';
import { lookedAt, SERVER_PATH, toServer } from './server.ts';

const NEWEST_FIRST = { sort: 'created_at', descending: true } as const;

async function show(look: Look) {
  const page = await lookedAt(look);
  const { id, region } = page.server;
  const volumes = (filter: Readonly<Record<string, string>>) =>
    every({ ...NEWEST_FIRST, filter }, (each) => listVolumes(look.service, look.customer(), each));
  const snapshots = (filter: Readonly<Record<string, string>>) =>
    every({ ...NEWEST_FIRST, filter }, (each) => listSnapshots(look.service, look.customer(), each));
  const [attached, near, own, ready] = await Promise.all([
    volumes({ attached_to: id }),
    volumes({ region }),
    snapshots({ server: id }),
    snapshots({ status: 'ready' }),
  ]);
  return storageView({
    ...{ ...page, attached, snapshots: own, forms: look.forms },
    free: near.filter(({ attached_to }) => attached_to === null),
    foreign: ready.filter(({ server }) => server !== id),
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
      body: body({ name: asTyped, expires_at: moment }),
      done: ({ server }) => ({ to: storageOf(server), notice: 'snapshot_begun' }),
    }),
    restore: restForm({
      does: 'servers.restore',
      first: (call, { id = '' }) => nameTyped(call, id),
      body: body({ snapshot: text }),
      done: toServer('restore_begun'),
    }),
  },
};

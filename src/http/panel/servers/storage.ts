/** The volumes and snapshots of a server. */
import { listSnapshots } from '../../../domain/snapshots/read.ts';
import { listVolumes } from '../../../domain/volumes/read.ts';
import { storageView } from '../../../panel/servers/storage.ts';
import { serverPagePath } from '../../../spec/paths.ts';
import type { Snapshot } from '../../../spec/schemas/snapshot.ts';
import type { Volume } from '../../../spec/schemas/volume.ts';
import { field } from '../../form.ts';
import { readAllPages } from '../choices.ts';
import { bodyReader, dateTime, text, untrimmedText } from '../field-readers.ts';
import { page, restForm } from '../page-types.ts';
import { checkTypedName, loadServer, redirectToServer, SERVER_PATH, type ServerContext } from './overview.ts';

const NEWEST_FIRST = { sort: 'created_at', descending: true } as const;

async function render(context: ServerContext) {
  const page = await loadServer(context);
  const { id, region } = page.server;
  const volumes = (filter: Readonly<Record<string, string>>) =>
    readAllPages({ ...NEWEST_FIRST, filter }, (each) =>
      listVolumes(context.service, context.customer(), each),
    );
  const snapshots = (filter: Readonly<Record<string, string>>) =>
    readAllPages({ ...NEWEST_FIRST, filter }, (each) =>
      listSnapshots(context.service, context.customer(), each),
    );
  const [attached, near, own, ready] = await Promise.all([
    volumes({ attached_to: id }),
    volumes({ region }),
    snapshots({ server: id }),
    snapshots({ status: 'ready' }),
  ]);
  return storageView({
    ...{ ...page, attached, snapshots: own, forms: context.forms },
    free: near.filter(({ attached_to }) => attached_to === null),
    fromOtherServers: ready.filter(({ server }) => server !== id),
  });
}

const storagePath = (id: string) => serverPagePath(id, 'storage');

export const SERVER_STORAGE_PAGE = page({
  path: `${SERVER_PATH}/storage`,
  access: 'customer',
  render,
  forms: {
    attach: restForm<Volume>({
      operation: 'volumes.attach',
      params: (form) => ({ id: field(form, 'volume') }),
      body: bodyReader({ server: text }),
      fieldNames: { server: 'volume' },
      // The id in the operation's path is the volume's.
      done: (_, { form }) => ({ to: storagePath(field(form, 'server')), notice: 'volume_attached' }),
    }),
    detach: restForm<Volume>({
      operation: 'volumes.detach',
      params: (form) => ({ id: field(form, 'key') }),
      done: (_, { form }) => ({ to: storagePath(field(form, 'server')), notice: 'volume_detached' }),
    }),
    snapshot: restForm<Snapshot>({
      operation: 'snapshots.create',
      body: bodyReader({ name: untrimmedText, expires_at: dateTime }),
      done: ({ server }) => ({ to: storagePath(server), notice: 'snapshot_begun' }),
    }),
    restore: restForm({
      operation: 'servers.restore',
      validate: (call, { id }) => checkTypedName(call, id),
      body: bodyReader({ snapshot: text }),
      done: redirectToServer('restore_begun'),
    }),
  },
});

/** The volumes and snapshots of a server. */
import { getBackupPolicy } from '../../../domain/snapshots/backups/policy.ts';
import { listSnapshots } from '../../../domain/snapshots/read.ts';
import { listVolumes } from '../../../domain/volumes/read.ts';
import { DAILY } from '../../../panel/servers/backups.ts';
import { storageView } from '../../../panel/servers/storage.ts';
import { serverPagePath } from '../../../spec/paths.ts';
import type { BackupPolicy } from '../../../spec/schemas/backup-policy.ts';
import type { Snapshot } from '../../../spec/schemas/snapshot.ts';
import type { Volume } from '../../../spec/schemas/volume.ts';
import { type Form, field } from '../../form.ts';
import { readAllPages } from '../choices.ts';
import { bodyReader, dateTime, isChecked, number, text, untrimmedText } from '../field-readers.ts';
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
  const [policy, attached, near, own, ready] = await Promise.all([
    getBackupPolicy(context.service, context.customer(), id),
    volumes({ attached_to: id }),
    volumes({ region }),
    snapshots({ server: id }),
    snapshots({ status: 'ready' }),
  ]);
  return storageView({
    ...{ ...page, policy, attached, snapshots: own, forms: context.forms },
    free: near.filter(({ attached_to }) => attached_to === null),
    fromOtherServers: ready.filter(({ server }) => server !== id),
  });
}

const storagePath = (id: string) => serverPagePath(id, 'storage');

function readPolicy(form: Form): object {
  const schedule = field(form, 'schedule');
  const isDaily = schedule === DAILY;
  return {
    ...bodyReader({ enabled: isChecked, hour_utc: number, keep: number, max_price_usd: number })(form),
    ...(isDaily ? { every: 'day' } : { every: 'week', weekday: schedule }),
  };
}

export const SERVER_STORAGE_PAGE = page({
  path: `${SERVER_PATH}/storage`,
  access: 'customer',
  readOperations: ['backup_policies.get'],
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
    backups: restForm<BackupPolicy>({
      operation: 'backup_policies.replace',
      body: readPolicy,
      fieldNames: { every: 'schedule', weekday: 'schedule' },
      done: ({ server }) => ({ to: storagePath(server), notice: 'saved' }),
    }),
    restore: restForm({
      operation: 'servers.restore',
      validate: (call, { id }) => checkTypedName(call, id),
      body: bodyReader({ snapshot: text }),
      done: redirectToServer('restore_begun'),
    }),
  },
});

/** Snapshot pages. */
import { compatibleServerIds, getSnapshot, listSnapshots } from '../../../domain/snapshots/read.ts';
import { snapshotsView, snapshotView } from '../../../panel/resources/snapshots.ts';
import { PANEL_PATHS, resourcePath } from '../../../spec/paths.ts';
import type { Server } from '../../../spec/schemas/server.ts';
import type { Snapshot } from '../../../spec/schemas/snapshot.ts';
import { field } from '../../form.ts';
import { listOwnServers } from '../choices.ts';
import {
  bodyReader,
  dateTime,
  dateTimeOrNull,
  pairs,
  readProtection,
  text,
  untrimmedText,
} from '../field-readers.ts';
import { readList } from '../list.ts';
import { type PageContext, type PanelPage, page, restForm } from '../page-types.ts';
import { readLatestActions } from '../servers/actions.ts';
import { checkTypedName } from '../servers/overview.ts';

const snapshotPath = ({ id }: Snapshot): string => resourcePath(PANEL_PATHS.snapshots, id);

export const SNAPSHOT_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.snapshots,
    access: 'customer',
    readOperations: ['snapshots.list'],
    render: showSnapshots,
    forms: {
      create: restForm<Snapshot>({
        operation: 'snapshots.create',
        params: (form) => ({ id: field(form, 'server') }),
        body: bodyReader({ name: untrimmedText, expires_at: dateTime, labels: pairs }),
        done: (snapshot) => ({ to: snapshotPath(snapshot), notice: 'snapshot_begun' }),
      }),
    },
  },
  page({
    path: `${PANEL_PATHS.snapshots}/{id}`,
    access: 'customer',
    readOperations: ['snapshots.get', 'actions.list'],
    render: showSnapshot,
    forms: {
      restore: restForm<Server>({
        operation: 'servers.restore',
        params: (form) => ({ id: field(form, 'server') }),
        validate: (call, { id }) =>
          id === '' ? [{ field: 'server', issue: 'required' }] : checkTypedName(call, id),
        body: bodyReader({ snapshot: text }),
        done: ({ id }) => ({ to: resourcePath(PANEL_PATHS.servers, id), notice: 'restore_begun' }),
      }),
      change: restForm<Snapshot>({
        operation: 'snapshots.update',
        body: bodyReader({ name: untrimmedText, expires_at: dateTimeOrNull, labels: pairs }),
        done: (snapshot) => ({ to: snapshotPath(snapshot), notice: 'saved' }),
      }),
      protect: restForm<Snapshot>({
        operation: 'snapshots.update',
        body: readProtection('delete'),
        done: (snapshot) => ({ to: snapshotPath(snapshot), notice: 'saved' }),
      }),
      delete: restForm({
        operation: 'snapshots.delete',
        done: () => ({ to: PANEL_PATHS.snapshots, notice: 'snapshot_deleted' }),
      }),
    },
  }),
];

async function showSnapshots(context: PageContext) {
  const [list, servers] = await Promise.all([
    readList(context, 'snapshots.list', (page) => listSnapshots(context.service, context.customer(), page)),
    listOwnServers(context),
  ]);
  const { items: snapshots, ...rest } = list;
  return snapshotsView({ snapshots, ...rest, servers, forms: context.forms });
}

async function showSnapshot(context: PageContext<{ readonly id: string }>) {
  const { id } = context.params;
  const [snapshot, servers, compatibleIds, actions] = await Promise.all([
    getSnapshot(context.service, context.customer(), id),
    listOwnServers(context),
    compatibleServerIds(context.service, context.customer(), id),
    readLatestActions(context, id),
  ]);
  const targets = servers.filter((server) => compatibleIds.has(server.id));
  return snapshotView({ snapshot, servers, targets, actions, forms: context.forms });
}

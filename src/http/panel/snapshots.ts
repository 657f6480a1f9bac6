/** Snapshots in the panel. */
import { getSnapshot, listSnapshots, serversItFits } from '../../domain/snapshots/find.ts';
import { snapshotsView, snapshotView } from '../../panel/snapshots.ts';
import { PANEL_PATHS, thingPath } from '../../spec/paths.ts';
import type { Server } from '../../spec/schemas/server.ts';
import type { Snapshot } from '../../spec/schemas/snapshot.ts';
import { field } from '../form.ts';
import { asTyped, body, moment, text } from './fields.ts';
import { readList } from './list.ts';
import { nameTyped } from './name-typed.ts';
import { ownServers } from './own-servers.ts';
import { type Look, type PanelPage, restForm } from './page.ts';

export const SNAPSHOT_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.snapshots,
    access: 'customer',
    shows: ['snapshots.list'],
    show: showSnapshots,
    forms: {
      create: restForm<Snapshot>({
        does: 'snapshots.create',
        params: (form) => ({ id: field(form, 'server') }),
        body: body({ name: asTyped, expires_at: moment }),
        done: ({ id }) => ({ to: thingPath(PANEL_PATHS.snapshots, id), notice: 'snapshot_begun' }),
      }),
    },
  },
  {
    path: `${PANEL_PATHS.snapshots}/{id}`,
    access: 'customer',
    shows: ['snapshots.get'],
    show: showSnapshot,
    forms: {
      restore: restForm<Server>({
        does: 'servers.restore',
        params: (form) => ({ id: field(form, 'server') }),
        first: (call, { id = '' }) =>
          id === '' ? [{ field: 'server', issue: 'required' }] : nameTyped(call, id),
        body: body({ snapshot: text }),
        done: ({ id }) => ({ to: thingPath(PANEL_PATHS.servers, id), notice: 'restore_begun' }),
      }),
      delete: restForm({
        does: 'snapshots.delete',
        done: () => ({ to: PANEL_PATHS.snapshots, notice: 'snapshot_deleted' }),
      }),
    },
  },
];

async function showSnapshots(look: Look) {
  const [list, servers] = await Promise.all([
    readList(look, 'snapshots.list', (page) => listSnapshots(look.service, look.customer(), page)),
    ownServers(look),
  ]);
  const { items: snapshots, ...rest } = list;
  return snapshotsView({ snapshots, ...rest, servers, forms: look.forms });
}

async function showSnapshot(look: Look) {
  const { id = '' } = look.params;
  const [snapshot, servers, fit] = await Promise.all([
    getSnapshot(look.service, look.customer(), id),
    ownServers(look),
    serversItFits(look.service, look.customer(), id),
  ]);
  const onto = servers.filter((server) => fit.has(server.id));
  return snapshotView({ snapshot, servers, onto, forms: look.forms });
}

import type { Snapshot } from '@skerry/sdk';
import { type Command, command } from '../command.ts';
import { Failure } from '../exit-codes.ts';
import { FIND_SERVER, FIND_SNAPSHOT, findServer, findSnapshot, nullIf, resolveServerId } from '../find.ts';
import { listCommand, omitUndefined, requireChanges } from '../lists.ts';
import { arg, flag, futureTime, pairs, text } from '../options.ts';
import { type Column, fields, hidden, times } from '../output/format.ts';
import { deleteCommand, describeCommand } from '../resources.ts';
import { createOnce, IDEMPOTENCY_OPTIONS } from '../terminal/create-once.ts';
import { WAIT_OPTIONS } from '../terminal/wait.ts';
import { WAIT_OPERATIONS, waitForBegun } from '../terminal/wait-for-action.ts';
import {
  changeLabels,
  LABEL_CHANGES,
  LABEL_FILTER,
  labelColumn,
  rejectCombination,
} from './label-options.ts';
import { DELETE_PROTECTION, protectionColumn, protectionField } from './protection.ts';

const SNAPSHOT_COLUMNS: readonly Column<Snapshot>[] = [
  ...fields<Snapshot>('id', 'name', 'status', 'size_gb'),
  ...hidden(fields<Snapshot>('server', 'type')),
  labelColumn(),
  protectionColumn<Snapshot>(),
  ...hidden(times<Snapshot>('expires_at')),
  ...times<Snapshot>('created_at'),
];

const STATUSES = ['creating', 'ready', 'error'] as const;
const TYPES = ['manual', 'backup'] as const;
const SNAPSHOT = { word: 'snapshot', about: 'Name or ID', find: findSnapshot, calls: FIND_SNAPSHOT };

const list = listCommand({
  name: 'snapshot list',
  about: 'List snapshots',
  operations: ['snapshots.list', ...FIND_SERVER],
  options: {
    server: text('server', 'Filter by server: name or ID; ID only if it was deleted', {
      completionKind: 'server',
    }),
    status: text('status', 'Filter by status', { choices: STATUSES }),
    type: text('type', 'Filter by type', { choices: TYPES }),
    name: text('name', 'Filter by name'),
    label: LABEL_FILTER,
  },
  columns: SNAPSHOT_COLUMNS,
  example: 'skerry snapshot list --server web-1',
  list: (skerry, query) => skerry.snapshots.list(query),
  filter: async ({ server, ...given }, skerry) => ({
    ...given,
    server: server === undefined ? undefined : await resolveServerId(skerry, server),
  }),
});

const describe = describeCommand(SNAPSHOT, {
  about: 'Show a snapshot',
  columns: SNAPSHOT_COLUMNS,
  example: 'skerry snapshot describe before-upgrade',
});

const create = command({
  name: 'snapshot create',
  about: "Create a snapshot of a server's disk and wait until it is ready",
  help:
    'The server keeps running: the snapshot contains the state of the disk as after a power failure.\n' +
    'Restore it with `skerry server restore`.',
  operations: ['snapshots.create', 'snapshots.get', ...WAIT_OPERATIONS, ...FIND_SERVER],
  args: { server: arg('Name or ID of the server', { completionKind: 'server' }) },
  options: {
    name: text('name', 'Name of the snapshot (default: generated from the time)'),
    expiresAt: futureTime('Time of automatic deletion; omit to keep it'),
    label: pairs('Label'),
    deleteProtection: DELETE_PROTECTION,
    ...IDEMPOTENCY_OPTIONS,
    ...WAIT_OPTIONS,
  },
  columns: SNAPSHOT_COLUMNS,
  example: 'skerry snapshot create web-1 --name nightly --expires-at 30d',
  run: async (context, { server, name, expiresAt, label, idempotencyKey: key, ...rest }) => {
    const { deleteProtection, ...waits } = rest;
    const { skerry, output } = context;
    const { id } = await findServer(skerry, server);
    const given = omitUndefined({ name, expires_at: expiresAt, labels: label });
    const body = { ...given, ...protectionField({ deleteProtection }) };
    const asked = {
      key,
      subject: `snapshot ${name ?? ''}`.trim(),
      lookupCommand: ['skerry', 'snapshot', 'list', '--server', id],
    };
    const begun = await createOnce(context, asked, (once) => skerry.snapshots.create(id, body, once));
    const show = (seen: Snapshot) => output.show(seen, SNAPSHOT_COLUMNS);
    const refresh = (signal: AbortSignal) => nullIf('not_found', skerry.snapshots.get(begun.id, { signal }));
    const isDone = (seen: Snapshot | null) => seen?.status === 'ready';
    await waitForBegun(context, waits, begun, { name: begun.name, refresh, isDone, show });
  },
});

const update = command({
  name: 'snapshot update',
  about: 'Change the name, expiry, labels, or protection of a snapshot',
  operations: ['snapshots.update', ...FIND_SNAPSHOT],
  args: { snapshot: arg('Name or ID', { completionKind: 'snapshot' }) },
  options: {
    name: text('name', 'New name'),
    expiresAt: futureTime('New time of automatic deletion'),
    noExpiry: flag('Never delete it automatically'),
    ...LABEL_CHANGES,
    deleteProtection: DELETE_PROTECTION,
  },
  columns: SNAPSHOT_COLUMNS,
  example: 'skerry snapshot update before-upgrade --delete-protection=true',
  run: async ({ skerry, output }, { snapshot, name, expiresAt, noExpiry, ...words }) => {
    if (noExpiry && expiresAt !== undefined) {
      throw new Failure('usage', '--no-expiry cannot be combined with --expires-at');
    }
    const expires_at = noExpiry ? null : expiresAt;
    requireChanges({ name, expires_at, ...words });
    rejectCombination(words.label, words.addLabel ?? words.removeLabel, 'label');
    const found = await findSnapshot(skerry, snapshot);
    const changes = omitUndefined({ name, expires_at, labels: changeLabels(found, words) });
    const body = { ...changes, ...protectionField(words) };
    output.show(await skerry.snapshots.update(found.id, body), SNAPSHOT_COLUMNS);
  },
});

const remove = deleteCommand(SNAPSHOT, {
  noun: 'snapshot',
  operation: 'snapshots.delete',
  delete: (skerry, id) => skerry.snapshots.delete(id),
  about: 'Delete a snapshot',
  example: 'skerry snapshot delete before-upgrade --yes',
});

export const SNAPSHOT_COMMANDS: readonly Command[] = [list, describe, create, update, remove];

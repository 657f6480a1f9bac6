import type { Volume } from '@skerry/sdk';
import { type Command, type Context, command } from '../command.ts';
import { Failure } from '../exit-codes.ts';
import { FIND_SERVER, FIND_VOLUME, findServer, findVolume, nullIf, resolveServerId } from '../find.ts';
import { VOLUME_MAX_GB, VOLUME_MIN_GB } from '../limits.ts';
import { listCommand, omitUndefined, requireChanges } from '../lists.ts';
import { arg, flag, integer, pairs, requiredInteger, requiredText, text } from '../options.ts';
import { type Column, fields, hidden, times } from '../output/format.ts';
import { deleteCommand, describeCommand } from '../resources.ts';
import { createOnce, IDEMPOTENCY_OPTIONS } from '../terminal/create-once.ts';
import { WAIT_OPTIONS, type WaitFlags } from '../terminal/wait.ts';
import { WAIT_OPERATIONS, waitForBegun } from '../terminal/wait-for-action.ts';
import {
  changeLabels,
  LABEL_CHANGES,
  LABEL_FILTER,
  labelColumn,
  rejectCombination,
} from './label-options.ts';
import { DELETE_PROTECTION, protectionColumn, protectionField } from './protection.ts';

export const VOLUME_COLUMNS: readonly Column<Volume>[] = [
  ...fields<Volume>('id', 'name', 'size_gb', 'region', 'device'),
  ...hidden(fields<Volume>('attached_to', 'encrypted', 'filesystem')),
  labelColumn(),
  protectionColumn<Volume>(),
  ...hidden(times<Volume>('created_at')),
];

const list = listCommand({
  name: 'volume list',
  about: 'List volumes',
  operations: ['volumes.list', ...FIND_SERVER],
  options: {
    name: text('name', 'Filter by name'),
    region: text('code', 'Filter by region'),
    attachedTo: text('server', 'Filter by server: name or ID', { completionKind: 'server' }),
    label: LABEL_FILTER,
  },
  columns: VOLUME_COLUMNS,
  example: 'skerry volume list --region par',
  list: (skerry, query) => skerry.volumes.list(query),
  filter: async ({ attachedTo, ...given }, skerry) => ({
    ...given,
    attached_to: attachedTo === undefined ? undefined : await resolveServerId(skerry, attachedTo),
  }),
});

const VOLUME_RESOURCE = { word: 'volume', about: 'Name or ID', find: findVolume, calls: FIND_VOLUME };

const describe = describeCommand(VOLUME_RESOURCE, {
  about: 'Show a volume',
  columns: VOLUME_COLUMNS,
  example: 'skerry volume describe data',
});

const VOLUME = arg('Name or ID', { completionKind: 'volume' });
const SIZE = { min: VOLUME_MIN_GB, max: VOLUME_MAX_GB };

const create = command({
  name: 'volume create',
  about: 'Create a volume',
  operations: ['volumes.create'],
  args: { name: arg('Name of the volume') },
  options: {
    sizeGb: requiredInteger(
      'GiB',
      `Size from ${VOLUME_MIN_GB} to ${VOLUME_MAX_GB}. A volume can grow but never shrink`,
      SIZE,
    ),
    region: requiredText('code', 'Region of the servers that will use it'),
    encrypted: flag('Encrypt with LUKS in the server with your own key; cannot be changed later'),
    filesystem: text('name', 'File system for your own records; the volume is not formatted'),
    label: pairs('Label'),
    deleteProtection: DELETE_PROTECTION,
    ...IDEMPOTENCY_OPTIONS,
  },
  columns: VOLUME_COLUMNS,
  example: 'skerry volume create backups --size-gb 100 --region par --filesystem ext4',
  run: async (context, { name, sizeGb, region, encrypted, idempotencyKey: key, ...given }) => {
    const { skerry, output } = context;
    const optional = omitUndefined({ filesystem: given.filesystem, labels: given.label });
    const body = { name, size_gb: sizeGb, region, encrypted, ...optional, ...protectionField(given) };
    const lookupCommand = ['skerry', 'volume', 'list', '--name', name];
    const made = await createOnce(context, { key, subject: `volume ${name}`, lookupCommand }, (once) =>
      skerry.volumes.create(body, once),
    );
    output.show(made, VOLUME_COLUMNS);
  },
});

/** Waits until the driver has made the change. A service before 1.7 does not say when. */
async function waitForVolume(
  context: Context,
  waits: WaitFlags,
  begun: Volume,
  show: (last: Volume) => void = (last) => context.output.showRow(last, VOLUME_COLUMNS),
): Promise<void> {
  const { id, name } = begun;
  const refresh = (signal: AbortSignal) => nullIf('not_found', context.skerry.volumes.get(id, { signal }));
  await waitForBegun(context, waits, begun, { name, refresh, isDone: () => true, show });
}

const update = command({
  name: 'volume update',
  about: 'Change the name, size, labels, or protection of a volume',
  help: 'A volume can grow while in use. Grow its file system afterwards with resize2fs or xfs_growfs.',
  operations: ['volumes.update', 'volumes.get', ...WAIT_OPERATIONS, ...FIND_VOLUME],
  args: { volume: VOLUME },
  options: {
    name: text('name', 'New name'),
    sizeGb: integer('GiB', 'New size, larger than the current one', SIZE),
    ...LABEL_CHANGES,
    deleteProtection: DELETE_PROTECTION,
    ...WAIT_OPTIONS,
  },
  columns: VOLUME_COLUMNS,
  example: 'skerry volume update data --size-gb 80',
  run: async (context, { volume, name, sizeGb, timeout, noWait, ...words }) => {
    const { skerry, output } = context;
    requireChanges({ name, sizeGb, ...words });
    rejectCombination(words.label, words.addLabel ?? words.removeLabel, 'label');
    const found = await findVolume(skerry, volume);
    const { id, name: called, size_gb: hasGb } = found;
    if (sizeGb !== undefined && sizeGb < hasGb) {
      throw new Failure(
        'refused',
        `--size-gb: volume ${called} has ${hasGb} GiB and cannot shrink; ` +
          'create a smaller volume, copy your data, and delete this one',
      );
    }
    const changes = omitUndefined({ name, size_gb: sizeGb, labels: changeLabels(found, words) });
    const body = { ...changes, ...protectionField(words) };
    const updated = await skerry.volumes.update(id, body);
    const show = (last: Volume) => output.show(last, VOLUME_COLUMNS);
    // Only a larger size takes time. The action of an earlier request is not ours to wait for.
    if (sizeGb === undefined) show(updated);
    else await waitForVolume(context, { timeout, noWait }, updated, show);
  },
});

const attach = command({
  name: 'volume attach',
  about: 'Attach a volume to a server in the same region',
  operations: ['volumes.attach', 'volumes.get', ...WAIT_OPERATIONS, ...FIND_VOLUME, ...FIND_SERVER],
  args: { volume: VOLUME, server: arg('Name or ID of the server', { completionKind: 'server' }) },
  options: WAIT_OPTIONS,
  columns: VOLUME_COLUMNS,
  example: 'skerry volume attach data web-1',
  run: async (context, { volume, server, ...waits }) => {
    const { skerry } = context;
    const { id } = await findVolume(skerry, volume);
    const to = await findServer(skerry, server);
    await waitForVolume(context, waits, await skerry.volumes.attach(id, { server: to.id }));
  },
});

const detach = command({
  name: 'volume detach',
  about: 'Detach a volume from its server; unmount it first',
  operations: ['volumes.detach', 'volumes.get', ...WAIT_OPERATIONS, ...FIND_VOLUME],
  args: { volume: VOLUME },
  options: WAIT_OPTIONS,
  columns: VOLUME_COLUMNS,
  example: 'skerry volume detach data',
  run: async (context, { volume, ...waits }) => {
    const { skerry } = context;
    const { id } = await findVolume(skerry, volume);
    await waitForVolume(context, waits, await skerry.volumes.detach(id));
  },
});

const remove = deleteCommand(VOLUME_RESOURCE, {
  noun: 'volume',
  operation: 'volumes.delete',
  delete: (skerry, id) => skerry.volumes.delete(id),
  consequence: ({ size_gb }) => `, ${size_gb} GiB, and all data on it`,
  about: 'Delete a detached volume and all data on it',
  example: 'skerry volume delete data --yes',
});

export const VOLUME_COMMANDS: readonly Command[] = [list, describe, create, update, attach, detach, remove];

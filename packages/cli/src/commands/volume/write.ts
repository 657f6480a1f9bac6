import { type Command, command } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { findServer, findVolume } from '../../find.ts';
import { VOLUME_MAX_GB, VOLUME_MIN_GB } from '../../limits.ts';
import { omitUndefined } from '../../lists.ts';
import { arg, flag, integer, requiredInteger, requiredText, text } from '../../options.ts';
import { requireChanges } from '../../require-changes.ts';
import { confirm, YES_OPTION } from '../../terminal/confirm.ts';
import { createOnce, IDEMPOTENCY_OPTIONS } from '../../terminal/create-once.ts';
import { VOLUME_COLUMNS } from './columns.ts';

const VOLUME = arg('Name or id.', { completionKind: 'volume' });
const SIZE = { min: VOLUME_MIN_GB, max: VOLUME_MAX_GB };

const create = command({
  name: 'volume create',
  about: 'Create a volume: a disk that outlives servers',
  operations: ['volumes.create'],
  args: { name: arg('How to call it.') },
  options: {
    sizeGb: requiredInteger(
      'GiB',
      `Its size, from ${VOLUME_MIN_GB} to ${VOLUME_MAX_GB}. It can grow, never shrink.`,
      SIZE,
    ),
    region: requiredText('code', 'Where: the region of the servers that it is for.'),
    encrypted: flag('By LUKS in the server, with a key that is yours: for good, or not at all.'),
    filesystem: text('name', 'For your own bookkeeping: it is not formatted.'),
    ...IDEMPOTENCY_OPTIONS,
  },
  columns: VOLUME_COLUMNS,
  example: 'skerry volume create backups --size-gb 100 --region par --filesystem ext4',
  run: async (context, { name, sizeGb, region, encrypted, filesystem, idempotencyKey: key }) => {
    const { skerry, output } = context;
    const body = { name, size_gb: sizeGb, region, encrypted, ...omitUndefined({ filesystem }) };
    const lookupCommand = ['skerry', 'volume', 'list', '--name', name];
    const made = await createOnce(context, { key, subject: `volume ${name}`, lookupCommand }, (once) =>
      skerry.volumes.create(body, once),
    );
    output.show(made, VOLUME_COLUMNS);
  },
});

const update = command({
  name: 'volume update',
  about: 'Rename a volume, or make it larger',
  help: 'It grows while it is in use. The file system on it does not grow by itself: resize2fs or xfs_growfs.',
  operations: ['volumes.update', 'volumes.get', 'volumes.list'],
  args: { volume: VOLUME },
  options: {
    name: text('name', 'Its new name.'),
    sizeGb: integer('GiB', 'Its new size, larger than before.', SIZE),
  },
  columns: VOLUME_COLUMNS,
  example: 'skerry volume update data --size-gb 80',
  run: async ({ skerry, output }, { volume, name, sizeGb }) => {
    const body = requireChanges({ name, size_gb: sizeGb });
    const { id, name: called, size_gb: hasGb } = await findVolume(skerry, volume);
    if (sizeGb !== undefined && sizeGb < hasGb) {
      throw new Failure(
        'refused',
        `--size-gb: volume ${called} has ${hasGb} GiB and cannot shrink, since what is on it would be cut off; ` +
          'create a smaller one, copy, and delete this one',
      );
    }
    output.show(await skerry.volumes.update(id, body), VOLUME_COLUMNS);
  },
});

const attach = command({
  name: 'volume attach',
  about: 'Attach a volume to a server of its region',
  operations: ['volumes.attach', 'volumes.get', 'volumes.list', 'servers.get', 'servers.list'],
  args: { volume: VOLUME, server: arg('Name or id of the server.', { completionKind: 'server' }) },
  columns: VOLUME_COLUMNS,
  example: 'skerry volume attach data web-1',
  run: async ({ skerry, output }, { volume, server }) => {
    const { id } = await findVolume(skerry, volume);
    const to = await findServer(skerry, server);
    output.showRow(await skerry.volumes.attach(id, { server: to.id }), VOLUME_COLUMNS);
  },
});

const detach = command({
  name: 'volume detach',
  about: 'Detach a volume from its server; unmount it there first',
  operations: ['volumes.detach', 'volumes.get', 'volumes.list'],
  args: { volume: VOLUME },
  columns: VOLUME_COLUMNS,
  example: 'skerry volume detach data',
  run: async ({ skerry, output }, { volume }) => {
    const { id } = await findVolume(skerry, volume);
    output.showRow(await skerry.volumes.detach(id), VOLUME_COLUMNS);
  },
});

const remove = command({
  name: 'volume delete',
  aliases: ['rm'],
  about: 'Destroy a volume with all that is on it; it must be detached',
  operations: ['volumes.delete', 'volumes.get', 'volumes.list'],
  args: { volume: VOLUME },
  options: { yes: YES_OPTION },
  example: 'skerry volume delete data --yes',
  run: async ({ skerry, terminal }, { volume, yes }) => {
    const { id, name, size_gb: sizeGb } = await findVolume(skerry, volume);
    await confirm(terminal, yes, `destroy volume ${name} (${id}) of ${sizeGb} GiB with all that is on it`);
    await skerry.volumes.delete(id);
    terminal.note(`Volume ${name} is destroyed.`);
  },
});

export const VOLUME_WRITE: readonly Command[] = [create, update, attach, detach, remove];

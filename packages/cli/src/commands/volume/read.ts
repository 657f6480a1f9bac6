import { type Command, command } from '../../command.ts';
import { findVolume, resolveServerId } from '../../find.ts';
import { LIST_OPTIONS, omitUndefined, showList } from '../../lists.ts';
import { arg, text } from '../../options.ts';
import { VOLUME_COLUMNS } from './columns.ts';

const list = command({
  name: 'volume list',
  aliases: ['ls'],
  about: 'List volumes',
  operations: ['volumes.list', 'servers.get', 'servers.list'],
  options: {
    name: text('name', 'Filter by name'),
    region: text('code', 'Filter by region'),
    attachedTo: text('server', 'Filter by server: name or ID', { completionKind: 'server' }),
    ...LIST_OPTIONS,
  },
  columns: VOLUME_COLUMNS,
  example: 'skerry volume list --region par',
  run: async (context, { sort, limit, attachedTo, ...filter }) => {
    const at = attachedTo === undefined ? undefined : await resolveServerId(context.skerry, attachedTo);
    const query = omitUndefined({ filter: omitUndefined({ ...filter, attached_to: at }), sort }) as object;
    await showList(context, context.skerry.volumes.list(query), limit, VOLUME_COLUMNS);
  },
});

const describe = command({
  name: 'volume describe',
  aliases: ['get', 'show'],
  about: 'Show a volume',
  operations: ['volumes.get', 'volumes.list'],
  args: { volume: arg('Name or ID', { completionKind: 'volume' }) },
  columns: VOLUME_COLUMNS,
  example: 'skerry volume describe data',
  run: async ({ skerry, output }, { volume }) => {
    output.show(await findVolume(skerry, volume), VOLUME_COLUMNS);
  },
});

export const VOLUME_READ: readonly Command[] = [list, describe];

import { type Command, command } from '../../command.ts';
import { findServer, resolveImageId } from '../../find.ts';
import { LIST_OPTIONS, omitUndefined, showList } from '../../lists.ts';
import { arg, text } from '../../options.ts';
import { SERVER_COLUMNS } from './columns.ts';

const STATUSES = ['provisioning', 'installing', 'running', 'stopped', 'suspended', 'destroying'] as const;

const list = command({
  name: 'server list',
  aliases: ['ls'],
  about: 'List servers',
  operations: ['servers.list', 'images.list'],
  options: {
    status: text('status', 'Filter by status', { choices: STATUSES }),
    region: text('code', 'Filter by region', { completionKind: 'region' }),
    plan: text('id', 'Filter by plan', { completionKind: 'plan' }),
    image: text('image', 'Filter by image: ID, name, or family for its newest version', {
      completionKind: 'image',
    }),
    name: text('name', 'Filter by name'),
    tag: text('tag', 'Filter by tag'),
    ...LIST_OPTIONS,
  },
  columns: SERVER_COLUMNS,
  example: 'skerry server list --status running -o columns=name,ipv4',
  run: async (context, { sort, limit, image, ...filter }) => {
    const installed = image === undefined ? undefined : await resolveImageId(context.skerry, image);
    const query = omitUndefined({ filter: omitUndefined({ ...filter, image: installed }), sort }) as object;
    await showList(context, context.skerry.servers.list(query), limit, SERVER_COLUMNS);
  },
});

const describe = command({
  name: 'server describe',
  aliases: ['get', 'show'],
  about: 'Show a server',
  operations: ['servers.get', 'servers.list'],
  args: { server: arg('Name or ID', { completionKind: 'server' }) },
  columns: SERVER_COLUMNS,
  example: 'skerry server describe web-1',
  run: async ({ skerry, output }, { server }) => {
    output.show(await findServer(skerry, server), SERVER_COLUMNS);
  },
});

export const SERVER_READ: readonly Command[] = [list, describe];

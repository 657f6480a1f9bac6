import type { Server } from '@skerry/sdk';
import type { Command } from '../../command.ts';
import { FIND_SERVER, findServer, resolveImageId } from '../../find.ts';
import { listCommand } from '../../lists.ts';
import { text } from '../../options.ts';
import { amounts, type Column, fields, hidden, times } from '../../output/format.ts';
import { describeCommand } from '../../resources.ts';
import { LABEL_FILTER, labelColumn } from '../label-options.ts';
import { protectionColumn } from '../protection.ts';

export const SERVER_COLUMNS: readonly Column<Server>[] = [
  ...fields<Server>('id', 'name', 'status', 'plan', 'region'),
  { name: 'ipv4', value: (server) => server.ipv4?.address },
  { name: 'ipv6', value: (server) => server.ipv6?.address, hidden: true },
  { name: 'ipv4_rdns', value: (server) => server.ipv4?.rdns, hidden: true },
  { name: 'ipv6_prefix', value: (server) => server.ipv6?.prefix, hidden: true },
  { name: 'ipv6_rdns', value: (server) => server.ipv6?.rdns, hidden: true },
  {
    name: 'ipv6_rdns_records',
    value: ({ ipv6 }) =>
      Object.entries(ipv6?.rdns_records ?? {}).map(([address, host]) => `${address}=${host}`),
    hidden: true,
  },
  ...hidden(fields<Server>('image', 'iso', 'boot', 'ssh_keys', 'tags')),
  labelColumn(),
  protectionColumn<Server>(),
  ...hidden(fields<Server>('billing_months')),
  ...hidden(amounts<Server>('price_usd_cycle')),
  ...hidden(fields<Server>('auto_renew')),
  ...times<Server>('paid_until'),
  ...hidden(fields<Server>('suspended_reason')),
  ...hidden(times<Server>('created_at', 'updated_at')),
];

const STATUSES = ['provisioning', 'installing', 'running', 'stopped', 'suspended', 'destroying'] as const;

const list = listCommand({
  name: 'server list',
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
    label: LABEL_FILTER,
  },
  columns: SERVER_COLUMNS,
  example: 'skerry server list --status running --label env=prod -o columns=name,ipv4',
  list: (skerry, query) => skerry.servers.list(query),
  filter: async ({ image, ...given }, skerry) => ({
    ...given,
    image: image === undefined ? undefined : await resolveImageId(skerry, image),
  }),
});

const describe = describeCommand(
  { word: 'server', about: 'Name or ID', find: findServer, calls: FIND_SERVER },
  { about: 'Show a server', columns: SERVER_COLUMNS, example: 'skerry server describe web-1' },
);

export const SERVER_READ: readonly Command[] = [list, describe];

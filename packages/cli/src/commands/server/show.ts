import type { Server } from '@skerry/sdk';
import { type Command, command } from '../../command.ts';
import { findServer, resolveImageId } from '../../find.ts';
import { listCommand } from '../../lists.ts';
import { arg, text } from '../../options.ts';
import { type Column, formatTime, formatUsd } from '../../output/format.ts';

export const SERVER_COLUMNS: readonly Column<Server>[] = [
  { name: 'id', value: (server) => server.id },
  { name: 'name', value: (server) => server.name },
  { name: 'status', value: (server) => server.status },
  { name: 'plan', value: (server) => server.plan },
  { name: 'region', value: (server) => server.region },
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
  { name: 'image', value: (server) => server.image, hidden: true },
  { name: 'ssh_keys', value: (server) => server.ssh_keys, hidden: true },
  { name: 'tags', value: (server) => server.tags, hidden: true },
  {
    name: 'labels',
    value: (server) => Object.entries(server.labels).map(([key, value]) => `${key}=${value}`),
    hidden: true,
  },
  { name: 'billing_months', value: (server) => server.billing_months, hidden: true },
  { name: 'price_usd_cycle', value: (server) => formatUsd(server.price_usd_cycle), hidden: true },
  { name: 'auto_renew', value: (server) => server.auto_renew, hidden: true },
  { name: 'paid_until', value: (server) => formatTime(server.paid_until) },
  { name: 'suspended_reason', value: (server) => server.suspended_reason, hidden: true },
  { name: 'created_at', value: (server) => formatTime(server.created_at), hidden: true },
  { name: 'updated_at', value: (server) => formatTime(server.updated_at), hidden: true },
];

const STATUSES = ['provisioning', 'installing', 'running', 'stopped', 'suspended', 'destroying'] as const;

const list = listCommand({
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
  },
  columns: SERVER_COLUMNS,
  example: 'skerry server list --status running -o columns=name,ipv4',
  list: (skerry, query) => skerry.servers.list(query),
  filter: async ({ image, ...given }, skerry) => ({
    ...given,
    image: image === undefined ? undefined : await resolveImageId(skerry, image),
  }),
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

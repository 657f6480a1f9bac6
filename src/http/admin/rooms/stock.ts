import type { PoolObject } from '../../../domain/staff/addresses.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import type { Shown } from '../../../panel/staff/room.ts';
import type { Room } from '../room.ts';

const HOLDER_COLUMNS: readonly Shown<Readonly<Record<string, string>>>[] = [
  { name: 'From', value: ({ from }) => from, as: 'time' },
  { name: 'Until', value: ({ until }) => until, as: 'time' },
  {
    name: 'Server',
    value: ({ server_name: name, server }) => name ?? server,
    link: ({ server_name: name, server = '' }) =>
      name ? `${CONSOLE_PATHS.servers}/${encodeURIComponent(server)}` : null,
  },
  {
    name: 'Customer',
    value: ({ customer_email: email, customer }) => email ?? customer,
    link: ({ customer = '' }) => `${CONSOLE_PATHS.customers}/${encodeURIComponent(customer)}`,
  },
];

export const ADDRESSES_ROOM: Room<PoolObject> = {
  section: 'addresses',
  path: CONSOLE_PATHS.addresses,
  title: 'Addresses',
  many: 'addresses',
  intro: 'A server gets one IPv4 address and one /64. Released ones rest before another server gets them.',
  list: 'addresses.list',
  lookup: {
    label: 'Who has an address',
    name: 'address',
    more: { name: 'at', label: 'At (UTC), such as 2026-12-01T22:00:00Z' },
    operation: 'addresses.get',
    details: [
      { name: 'State', value: ({ state }) => state },
      { name: 'Blocked', value: ({ blocked }) => (blocked === 'true' ? 'yes' : null) },
      {
        name: 'Server',
        value: ({ server_name: name, server }) => name ?? server,
        link: ({ server }) => (server ? `${CONSOLE_PATHS.servers}/${encodeURIComponent(server)}` : null),
      },
      { name: 'Customer', value: ({ customer }) => customer, as: 'customer' },
      { name: 'Names', value: ({ names }) => names },
      { name: 'Region', value: ({ region }) => region },
      { name: 'Block', value: ({ block }) => block, as: 'code' },
      { name: 'Gateway', value: ({ gateway }) => gateway, as: 'code' },
      { name: 'Available from', value: (row) => row.free_from, as: 'time' },
      { name: 'Kept for the lost host', value: (row) => row.held_by_host },
    ],
    table: {
      name: 'history',
      title: 'Who had it',
      empty: 'Nobody, as far as the history reaches.',
      columns: HOLDER_COLUMNS,
    },
  },
  columns: [
    { name: 'Region', value: ({ region }) => region },
    { name: 'Family', value: ({ family }) => (family === 4 ? 'IPv4' : 'IPv6 /64') },
    { name: 'Free', value: ({ free }) => free, as: 'number' },
    { name: 'Assigned', value: ({ assigned }) => assigned, as: 'number' },
    { name: 'Released', value: ({ released }) => released, as: 'number' },
    { name: 'Blocked', value: ({ blocked }) => blocked, as: 'number' },
    { name: 'Blocks', value: ({ blocks }) => blocks.join(', ') },
  ],
  creates: [
    {
      operation: 'addresses.block',
      title: 'Block addresses',
      button: 'Block',
      text: 'They are not assigned again. A server keeps its address until it is deleted.',
    },
    { operation: 'addresses.unblock', title: 'Unblock addresses', button: 'Unblock' },
    { operation: 'addresses.add', title: 'Add a block to the pool', button: 'Add block' },
    {
      operation: 'dns.publish',
      title: 'Publish all reverse names again',
      button: 'Publish names',
      text: 'For example on a new name server.',
    },
  ],
};

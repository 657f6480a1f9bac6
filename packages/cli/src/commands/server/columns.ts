import type { Server } from '@skerry/sdk';
import { type Column, time, usd } from '../../output/columns.ts';

export const SERVER_COLUMNS: readonly Column<Server>[] = [
  { name: 'id', of: (server) => server.id },
  { name: 'name', of: (server) => server.name },
  { name: 'status', of: (server) => server.status },
  { name: 'plan', of: (server) => server.plan },
  { name: 'region', of: (server) => server.region },
  { name: 'ipv4', of: (server) => server.ipv4?.address },
  { name: 'ipv6', of: (server) => server.ipv6?.address, hidden: true },
  { name: 'ipv4_rdns', of: (server) => server.ipv4?.rdns, hidden: true },
  { name: 'ipv6_prefix', of: (server) => server.ipv6?.prefix, hidden: true },
  { name: 'ipv6_rdns', of: (server) => server.ipv6?.rdns, hidden: true },
  {
    name: 'ipv6_rdns_records',
    of: ({ ipv6 }) => Object.entries(ipv6?.rdns_records ?? {}).map(([address, host]) => `${address}=${host}`),
    hidden: true,
  },
  { name: 'image', of: (server) => server.image, hidden: true },
  { name: 'ssh_keys', of: (server) => server.ssh_keys, hidden: true },
  { name: 'tags', of: (server) => server.tags, hidden: true },
  {
    name: 'labels',
    of: (server) => Object.entries(server.labels).map(([key, value]) => `${key}=${value}`),
    hidden: true,
  },
  { name: 'billing_months', of: (server) => server.billing_months, hidden: true },
  { name: 'price_usd_cycle', of: (server) => usd(server.price_usd_cycle), hidden: true },
  { name: 'auto_renew', of: (server) => server.auto_renew, hidden: true },
  { name: 'paid_until', of: (server) => time(server.paid_until) },
  { name: 'suspended_reason', of: (server) => server.suspended_reason, hidden: true },
  { name: 'created_at', of: (server) => time(server.created_at), hidden: true },
  { name: 'updated_at', of: (server) => time(server.updated_at), hidden: true },
];

/** Every list of the REST surface with rows to fill it, how it is read, and what can be asked of it. */
import { createHash } from 'node:crypto';
import { showId } from '../../src/kernel/ids.ts';
import type { Sql } from '../../src/kernel/sql.ts';
import { QUOTAS } from '../../src/spec/limits.ts';
import type { PageRequest } from '../../src/spec/lists.ts';
import type { Operation } from '../../src/spec/operations.ts';
import { pageAuditEvents } from '../../src/store/audit.ts';
import { pageDeliveries } from '../../src/store/deliveries.ts';
import { pageGroups } from '../../src/store/firewall.ts';
import { pageLedger } from '../../src/store/ledger.ts';
import type { Page } from '../../src/store/page.ts';
import { pageOfServers } from '../../src/store/servers.ts';
import { pageOfImages } from '../../src/store/shown-images.ts';
import { listSnapshots } from '../../src/store/snapshots.ts';
import { pageOfSshKeys } from '../../src/store/ssh-keys.ts';
import { pageTokens } from '../../src/store/tokens.ts';
import { pageTopups } from '../../src/store/topups.ts';
import { listVolumes } from '../../src/store/volumes.ts';
import { pageWebhooks } from '../../src/store/webhooks.ts';
import { FIRST_AT, FIRST_IMAGE, type Filling, idAt, MINE, words } from './long-list-rows.ts';

type Filter = Readonly<Record<string, string>>;

export interface LongList {
  readonly route: Operation;
  /** How many a customer may have, or all: nothing bounds the list. */
  readonly held: number | 'all';
  readonly fillings: readonly Filling[];
  readonly read: (sql: Sql, page: PageRequest) => Promise<Page<object>>;
  readonly sorts: readonly string[];
  /** Of each filter, values that are worth trying: of one row, of the older ones. */
  readonly filters: Readonly<Record<string, readonly string[]>>;
  /** Filters that are worth trying together. */
  readonly together?: readonly Filter[];
}

const BY_AGE = ['created_at'];
const BY_AGE_OR_NAME = ['created_at', 'name'];
const NAMES = ['once', 'old'];
const OWN = { id: 'id', customer_id: 'customer', created_at: 'at' };
const NAMED = { ...OWN, name: 'name' };

/** The id that `idAt` makes of a number, as a caller writes it. */
function shown(kind: 'image' | 'server', i: number): string {
  const digits = createHash('md5').update(`${i}`).digest('hex').slice(0, 20);
  return showId(kind, i.toString(16).padStart(12, '0') + digits);
}
const IMAGE = idAt(`${FIRST_IMAGE} + i % 2`);

const SERVERS: LongList = {
  route: 'servers.list',
  held: QUOTAS.servers,
  fillings: [
    {
      table: 'servers',
      columns: {
        ...{ ...NAMED, public_no: 'i', status: words('installing', 'running', 'stopped'), plan_id: 'word' },
        ...{ region_id: 'word', image_id: IMAGE, ram_mb: '1024', disk_gb: '10', tags: 'array[word]' },
        ...{ billing_months: '1', price_cents_month: '500', price_cents_cycle: '500', anchor_day: '1' },
        ...{ paid_until: 'at', updated_at: 'at' },
      },
    },
    {
      table: 'ipv4_addresses',
      columns: {
        ...{ addr: `'10.0.0.0'::inet + i`, block_id: idAt('4'), region_id: `'old'`, gateway: `'10.0.0.1'` },
        ...{ server_id: 'id', free_from: 'at' },
      },
    },
    {
      table: 'ipv6_prefixes',
      columns: {
        prefix: `('2001:db8:' || to_hex(i / 65536) || ':' || to_hex(i % 65536) || '::/64')::cidr`,
        ...{ block_id: idAt('6'), region_id: `'old'`, server_id: 'id', free_from: 'at' },
      },
    },
  ],
  read: (sql, page) => pageOfServers(sql, MINE, page),
  sorts: BY_AGE_OR_NAME,
  filters: {
    status: ['installing', 'running'],
    ...{ region: NAMES, plan: NAMES, image: [shown('image', FIRST_IMAGE)], name: NAMES, tag: NAMES },
  },
  together: [{ status: 'running', region: 'old', plan: 'old', name: 'old', tag: 'old' }],
};

const IMAGES: LongList = {
  route: 'images.list',
  held: QUOTAS.customImages,
  fillings: [
    {
      table: 'images',
      columns: {
        ...{ id: 'id', customer_id: 'customer', type: `'custom'`, family: 'word', version: 'name' },
        ...{ arch: 'array[word]', size_gb: '1', cloud_init: 'false', released_at: 'at' },
      },
    },
  ],
  read: (sql, page) => pageOfImages(sql, { customerId: MINE, goneDay: '2029-01-01' }, page),
  sorts: ['id'],
  filters: { family: NAMES, arch: NAMES, type: ['official', 'custom'] },
  together: [{ family: 'old', arch: 'old', type: 'custom' }],
};

const SSH_KEYS: LongList = {
  route: 'ssh_keys.list',
  held: QUOTAS.sshKeys,
  fillings: [
    {
      table: 'ssh_keys',
      columns: {
        ...{ ...NAMED, type: words('ssh-rsa', 'ssh-ed25519', 'ecdsa-sha2-nistp256') },
        ...{ fingerprint: 'md5(i::text)', public_key: 'md5(i::text)' },
      },
    },
  ],
  read: (sql, page) => pageOfSshKeys(sql, MINE, page),
  sorts: BY_AGE_OR_NAME,
  filters: { name: NAMES, type: ['ssh-rsa', 'ssh-ed25519'] },
  together: [{ name: 'old', type: 'ssh-ed25519' }],
};

const TOKENS: LongList = {
  route: 'tokens.list',
  held: QUOTAS.tokens,
  fillings: [
    {
      table: 'api_tokens',
      columns: { ...NAMED, scope: words('read', 'write', 'billing'), digest: 'sha256(i::text::bytea)' },
    },
  ],
  read: (sql, page) => pageTokens(sql, MINE, page),
  sorts: BY_AGE_OR_NAME,
  filters: { scope: ['read', 'write'], name: NAMES },
  together: [{ scope: 'write', name: 'old' }],
};

const LEDGER: LongList = {
  route: 'ledger.list',
  held: 'all',
  fillings: [
    {
      table: 'transfers',
      columns: {
        ...{ ...OWN, debit_account: idAt('0'), credit_account: 'customer', amount_cents: '1' },
        ...{ type: words('adjustment', 'charge', 'topup'), resource_kind: `'server'`, resource_id: 'id' },
        ...{ description: `'test'`, fact: `'test:' || i`, balance_after_cents: 'i' },
      },
    },
  ],
  read: (sql, page) => pageLedger(sql, MINE, page),
  sorts: BY_AGE,
  filters: { type: ['adjustment', 'charge'] },
};

const TOPUPS: LongList = {
  route: 'topups.list',
  held: 'all',
  fillings: [
    {
      table: 'topups',
      columns: {
        ...{ ...OWN, public_no: 'i', order_ref: `'test' || i`, coin: words('LTC', 'BTC', 'XMR') },
        ...{ amount_cents: '3000', bonus_cents: '0', deposit_address: `'test' || i`, deposit_uri: `''` },
        ...{ deposit_units: '1', rate_usd: `'1'`, required_confirmations: '1', expires_at: 'at' },
        status: words('confirming', 'credited', 'expired'),
      },
    },
    {
      table: 'deposits',
      columns: {
        ...{ coin: `'BTC'`, key: 'i::text', topup_id: 'id', txid: 'i::text', amount_units: '1' },
        ...{ state: `'final'`, confirmations: '6', first_seen_at: 'at' },
      },
    },
  ],
  read: (sql, page) => pageTopups(sql, MINE, page),
  sorts: BY_AGE,
  filters: { status: ['confirming', 'credited'], coin: ['LTC', 'BTC'] },
  // The first in no row, the second in the older ones.
  together: [
    { status: 'expired', coin: 'BTC' },
    { status: 'credited', coin: 'BTC' },
  ],
};

const VOLUMES: LongList = {
  route: 'volumes.list',
  held: QUOTAS.volumes,
  fillings: [
    {
      table: 'volumes',
      columns: {
        ...{ ...NAMED, size_gb: '10', region_id: 'word', encrypted: 'false' },
        ...{ server_id: `case when once then ${idAt('0')} when old then id end` },
        device: `case when once or old then '/dev/vdb' end`,
      },
    },
  ],
  read: (sql, page) => listVolumes(sql, MINE, page),
  sorts: BY_AGE_OR_NAME,
  filters: { name: NAMES, region: NAMES, attached_to: [shown('server', 0)] },
  together: [{ name: 'old', region: 'old' }],
};

const SNAPSHOTS: LongList = {
  route: 'snapshots.list',
  held: 'all',
  fillings: [
    {
      table: 'snapshots',
      columns: {
        // As many of a server as it may have.
        ...{
          ...NAMED,
          server_id: idAt(`i / ${QUOTAS.snapshotsPerServer}`),
          region_id: 'word',
          disk_gb: '10',
        },
        ...{ image_id: IMAGE, generation: '1', status: words('creating', 'ready', 'error') },
      },
    },
  ],
  read: (sql, page) => listSnapshots(sql, MINE, page),
  sorts: BY_AGE_OR_NAME,
  filters: { server: [shown('server', 1)], status: ['creating', 'ready'], name: NAMES },
  together: [
    { server: shown('server', 1), status: 'ready' },
    { server: shown('server', 1), name: 'old' },
    { status: 'error', name: 'old' },
    { status: 'ready', name: 'old' },
    { server: shown('server', 1), status: 'ready', name: 'old' },
  ],
};

const FIREWALL_GROUPS: LongList = {
  route: 'firewall_groups.list',
  held: QUOTAS.firewallGroups,
  fillings: [
    { table: 'firewall_groups', columns: { ...NAMED, default_action: `'drop'` } },
    {
      table: 'firewall_rules',
      columns: {
        ...{ id: 'id', group_id: 'id', position: '1', direction: `'in'`, proto: `'any'` },
        ...{ source: `'::/0'`, action: `'accept'` },
      },
    },
  ],
  read: (sql, page) => pageGroups(sql, MINE, page),
  sorts: BY_AGE_OR_NAME,
  filters: { name: NAMES },
};

const WEBHOOKS: LongList = {
  route: 'webhooks.list',
  held: QUOTAS.webhooks,
  fillings: [
    {
      table: 'webhooks',
      columns: {
        ...{ ...OWN, url: `'https://example.org/' || i`, events: `'{*}'`, active: 'not once' },
        ...{ secret_sealed: `''`, secret_hint: `'test'` },
      },
    },
  ],
  read: (sql, page) => pageWebhooks(sql, MINE, page),
  sorts: BY_AGE,
  filters: { active: ['false', 'true'] },
};

const DELIVERIES: LongList = {
  route: 'deliveries.list',
  held: 'all',
  fillings: [
    {
      table: 'deliveries',
      columns: {
        ...{ ...OWN, delivery_id: 'id', webhook_id: 'customer', event_id: 'id', attempt: '1' },
        ...{ event_type: words('ping', 'server.running', 'server.stopped') },
        ...{ status: words('pending', 'delivered', 'failed') },
      },
    },
  ],
  read: (sql, page) => pageDeliveries(sql, { customerId: MINE, webhookId: MINE, since: FIRST_AT }, page),
  sorts: BY_AGE,
  filters: { status: ['pending', 'delivered'], event_type: ['ping', 'server.running'] },
  together: [
    { status: 'failed', event_type: 'server.running' },
    { status: 'delivered', event_type: 'server.running' },
  ],
};

/** Times of a quarter of the list and of three quarters. */
const [FROM, TO] = ['@0.25', '@0.75'];

const AUDIT_EVENTS: LongList = {
  route: 'audit_events.list',
  held: 'all',
  fillings: [
    {
      table: 'audit_events',
      columns: {
        ...{ ...OWN, action: words('server.rebuild', 'server.stop', 'server.start') },
        // Of most things there is one event, of one there are all the old ones.
        resource: `case when once then 'once' when old then 'old' else 'srv_' || i end`,
        ...{ request_id: `'req_'`, ip_country: `'XX'`, result: `'ok'` },
      },
    },
  ],
  read: (sql, page) => pageAuditEvents(sql, MINE, FIRST_AT, page),
  sorts: BY_AGE,
  filters: {
    action: ['server.rebuild', 'server.stop'],
    resource: NAMES,
    ...{ from: [FROM], to: [TO] },
  },
  together: [
    { action: 'server.start', resource: 'old' },
    { action: 'server.stop', resource: 'old' },
    { from: FROM, to: TO },
    { from: '@0.5', to: '@0.55' },
    { action: 'server.stop', from: FROM, to: TO },
    { resource: 'old', from: FROM, to: TO },
    { action: 'server.start', resource: 'old', from: FROM, to: TO },
  ],
};

export const LONG_LISTS: readonly LongList[] = [
  ...[SERVERS, SSH_KEYS, TOKENS, LEDGER, TOPUPS, VOLUMES, SNAPSHOTS, FIREWALL_GROUPS, WEBHOOKS, DELIVERIES],
  ...[AUDIT_EVENTS, IMAGES],
];

/** Every question that is tried on a list of `n` rows: no filter, each value of each, and some together. */
export function questions(list: LongList, n: number): Filter[] {
  const alone = Object.entries(list.filters).flatMap(([name, values]) =>
    values.map((value) => ({ [name]: value })),
  );
  return [{}, ...alone, ...(list.together ?? [])].map((filter) =>
    Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, timeOf(value, n)])),
  );
}

/** `@0.5` is the time of the row in the middle; any other value is itself. */
function timeOf(value: string, n: number): string {
  if (!value.startsWith('@')) return value;
  return new Date(FIRST_AT.getTime() + Math.round(Number(value.slice(1)) * n) * 1_000).toISOString();
}

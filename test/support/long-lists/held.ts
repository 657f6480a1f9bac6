/** Lists that a quota bounds. */
import { QUOTAS } from '../../../src/spec/limits.ts';
import { pageGroups } from '../../../src/store/firewall.ts';
import { pageOfServers } from '../../../src/store/servers.ts';
import { pageOfImages } from '../../../src/store/shown-images.ts';
import { pageOfSshKeys } from '../../../src/store/ssh-keys.ts';
import { pageTokens } from '../../../src/store/tokens.ts';
import { listVolumes } from '../../../src/store/volumes.ts';
import { pageWebhooks } from '../../../src/store/webhooks.ts';
import { BY_AGE, BY_AGE_OR_NAME, IMAGE, type LongList, NAMED, NAMES, OWN, shown } from './list.ts';
import { FIRST_IMAGE, idAt, MINE, words } from './rows.ts';

export const SERVERS: LongList = {
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

export const SSH_KEYS: LongList = {
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

export const TOKENS: LongList = {
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

export const VOLUMES: LongList = {
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

export const FIREWALL_GROUPS: LongList = {
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

export const WEBHOOKS: LongList = {
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

export const IMAGES: LongList = {
  route: 'images.list',
  held: QUOTAS.customImages,
  fillings: [
    {
      table: 'images',
      columns: {
        ...{
          id: 'id',
          customer_id: 'customer',
          type: `'custom'`,
          family: 'word',
          version: 'name',
          name: 'name',
        },
        ...{ arch: 'array[word]', size_gb: '1', cloud_init: 'false', released_at: 'at' },
      },
    },
  ],
  read: (sql, page) =>
    pageOfImages(sql, { customerId: MINE, goneDay: '2029-01-01', importedOnly: false }, page),
  sorts: ['id', ...BY_AGE_OR_NAME],
  filters: { family: NAMES, arch: NAMES, type: ['official', 'custom'] },
  together: [{ family: 'old', arch: 'old', type: 'custom' }],
};

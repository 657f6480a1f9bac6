/** Lists that a quota bounds. */
import { QUOTAS } from '../../../src/spec/limits.ts';
import { pageTokens } from '../../../src/store/customers/tokens.ts';
import { pageGroups } from '../../../src/store/firewall.ts';
import { pageVisibleImages } from '../../../src/store/images/visible.ts';
import { pageAlerts } from '../../../src/store/servers/alerts.ts';
import { pageServers } from '../../../src/store/servers/list.ts';
import { pageSshKeys } from '../../../src/store/ssh-keys.ts';
import { pageVolumes } from '../../../src/store/volumes/volumes.ts';
import { pageWebhooks } from '../../../src/store/webhooks/webhooks.ts';
import {
  BY_AGE,
  BY_AGE_OR_NAME,
  CUSTOMER_COLUMNS,
  IMAGE_ID_SQL,
  LABEL_VALUES,
  LABELS_SQL,
  type LongList,
  NAME_VALUES,
  NAMED_COLUMNS,
  publicIdOf,
  TWO_LABELS,
} from './list.ts';
import { CUSTOMER_ID, FIRST_IMAGE_NO, idSql, valueSql } from './rows.ts';

export const SERVERS: LongList = {
  route: 'servers.list',
  perCustomer: QUOTAS.servers,
  fixtures: [
    {
      table: 'servers',
      columns: {
        ...{
          ...NAMED_COLUMNS,
          public_no: 'i',
          status: valueSql('installing', 'running', 'stopped'),
          plan_id: 'word',
        },
        ...{ region_id: 'word', image_id: IMAGE_ID_SQL, ram_mb: '1024', disk_gb: '10', tags: 'array[word]' },
        ...{ billing_months: '1', price_cents_month: '500', price_cents_cycle: '500', anchor_day: '1' },
        ...{ paid_until: 'at', updated_at: 'at', labels: LABELS_SQL },
      },
    },
    {
      table: 'ipv4_addresses',
      columns: {
        ...{ addr: `'10.0.0.0'::inet + i`, block_id: idSql('4'), region_id: `'old'`, gateway: `'10.0.0.1'` },
        ...{ server_id: 'id', free_from: 'at' },
      },
    },
    {
      table: 'ipv6_prefixes',
      columns: {
        prefix: `('2001:db8:' || to_hex(i / 65536) || ':' || to_hex(i % 65536) || '::/64')::cidr`,
        ...{ block_id: idSql('6'), region_id: `'old'`, server_id: 'id', free_from: 'at' },
      },
    },
  ],
  read: (sql, page) => pageServers(sql, CUSTOMER_ID, page),
  sorts: BY_AGE_OR_NAME,
  filters: {
    status: ['installing', 'running'],
    ...{
      region: NAME_VALUES,
      plan: NAME_VALUES,
      image: [publicIdOf('image', FIRST_IMAGE_NO)],
      name: NAME_VALUES,
      tag: NAME_VALUES,
      label: LABEL_VALUES,
    },
  },
  combinations: [
    { status: 'running', region: 'old', plan: 'old', name: 'old', tag: 'old' },
    { status: 'running', label: TWO_LABELS },
  ],
};

export const SSH_KEYS: LongList = {
  route: 'ssh_keys.list',
  perCustomer: QUOTAS.sshKeys,
  fixtures: [
    {
      table: 'ssh_keys',
      columns: {
        ...{ ...NAMED_COLUMNS, type: valueSql('ssh-rsa', 'ssh-ed25519', 'ecdsa-sha2-nistp256') },
        ...{ fingerprint: 'md5(i::text)', public_key: 'md5(i::text)' },
      },
    },
  ],
  read: (sql, page) => pageSshKeys(sql, CUSTOMER_ID, page),
  sorts: BY_AGE_OR_NAME,
  filters: { name: NAME_VALUES, type: ['ssh-rsa', 'ssh-ed25519'] },
  combinations: [{ name: 'old', type: 'ssh-ed25519' }],
};

export const TOKENS: LongList = {
  route: 'tokens.list',
  perCustomer: QUOTAS.tokens,
  fixtures: [
    {
      table: 'api_tokens',
      columns: {
        ...NAMED_COLUMNS,
        scope: valueSql('read', 'write', 'billing'),
        digest: 'sha256(i::text::bytea)',
      },
    },
  ],
  read: (sql, page) => pageTokens(sql, CUSTOMER_ID, page),
  sorts: BY_AGE_OR_NAME,
  filters: { scope: ['read', 'write'], name: NAME_VALUES },
  combinations: [{ scope: 'write', name: 'old' }],
};

export const VOLUMES: LongList = {
  route: 'volumes.list',
  perCustomer: QUOTAS.volumes,
  fixtures: [
    {
      table: 'volumes',
      columns: {
        ...{ ...NAMED_COLUMNS, size_gb: '10', region_id: 'word', encrypted: 'false', labels: LABELS_SQL },
        ...{ server_id: `case when once then ${idSql('0')} when old then id end` },
        device: `case when once or old then '/dev/vdb' end`,
      },
    },
  ],
  read: (sql, page) => pageVolumes(sql, CUSTOMER_ID, page),
  sorts: BY_AGE_OR_NAME,
  filters: {
    ...{ name: NAME_VALUES, region: NAME_VALUES, attached_to: [publicIdOf('server', 0)] },
    label: LABEL_VALUES,
  },
  combinations: [
    { name: 'old', region: 'old' },
    { region: 'old', label: TWO_LABELS },
  ],
};

export const FIREWALL_GROUPS: LongList = {
  route: 'firewall_groups.list',
  perCustomer: QUOTAS.firewallGroups,
  fixtures: [
    { table: 'firewall_groups', columns: { ...NAMED_COLUMNS, default_action: `'drop'` } },
    {
      table: 'firewall_rules',
      columns: {
        ...{ id: 'id', group_id: 'id', position: '1', direction: `'in'`, proto: `'any'` },
        ...{ source: `'::/0'`, action: `'accept'` },
      },
    },
  ],
  read: (sql, page) => pageGroups(sql, CUSTOMER_ID, page),
  sorts: BY_AGE_OR_NAME,
  filters: { name: NAME_VALUES },
};

export const WEBHOOKS: LongList = {
  route: 'webhooks.list',
  perCustomer: QUOTAS.webhooks,
  fixtures: [
    {
      table: 'webhooks',
      columns: {
        ...{ ...CUSTOMER_COLUMNS, url: `'https://example.org/' || i`, events: `'{*}'`, active: 'not once' },
        ...{ secret_sealed: `''`, secret_hint: `'test'` },
      },
    },
  ],
  read: (sql, page) => pageWebhooks(sql, CUSTOMER_ID, page),
  sorts: BY_AGE,
  filters: { active: ['false', 'true'] },
};

export const ALERTS: LongList = {
  route: 'alerts.list',
  perCustomer: QUOTAS.alerts,
  fixtures: [
    {
      table: 'alerts',
      columns: {
        ...{ ...NAMED_COLUMNS, metric: `case when once then 'ram_pct' else 'cpu_pct' end`, compare: `'gt'` },
        ...{ value: '90', window_min: '5', label_selector: `'{}'`, enabled: 'not once' },
      },
    },
  ],
  read: (sql, page) => pageAlerts(sql, CUSTOMER_ID, page),
  sorts: BY_AGE_OR_NAME,
  filters: { name: NAME_VALUES, metric: ['cpu_pct', 'ram_pct'], enabled: ['false', 'true'] },
};

export const IMAGES: LongList = {
  route: 'images.list',
  perCustomer: QUOTAS.customImages,
  fixtures: [
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
    pageVisibleImages(
      sql,
      { customerId: CUSTOMER_ID, deprecationCutoff: '2029-01-01', importedOnly: false },
      page,
    ),
  sorts: ['id', ...BY_AGE_OR_NAME],
  filters: { family: NAME_VALUES, arch: NAME_VALUES, type: ['official', 'custom'] },
  combinations: [{ family: 'old', arch: 'old', type: 'custom' }],
};

/** Lists without a quota. */
import { QUOTAS } from '../../../src/spec/limits.ts';
import { pageActions } from '../../../src/store/actions.ts';
import { pageAuditEvents } from '../../../src/store/audit.ts';
import { pageTickets } from '../../../src/store/customers/tickets.ts';
import { pageLedger } from '../../../src/store/ledger/ledger.ts';
import { pageSnapshots } from '../../../src/store/snapshots.ts';
import { pageTopups } from '../../../src/store/topups/topups.ts';
import { pageDeliveries } from '../../../src/store/webhooks/deliveries.ts';
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
import { CUSTOMER_ID, FIRST_AT, idSql, valueSql } from './rows.ts';

export const LEDGER: LongList = {
  route: 'ledger.list',
  perCustomer: 'all',
  fixtures: [
    {
      table: 'transfers',
      columns: {
        ...{ ...CUSTOMER_COLUMNS, debit_account: idSql('0'), credit_account: 'customer', amount_cents: '1' },
        ...{ type: valueSql('adjustment', 'charge', 'topup'), resource_kind: `'server'`, resource_id: 'id' },
        ...{ description: `'test'`, fact: `'test:' || i`, balance_after_cents: 'i', booked_at: 'at' },
      },
    },
  ],
  read: (sql, page) => pageLedger(sql, CUSTOMER_ID, page),
  sorts: BY_AGE,
  filters: { type: ['adjustment', 'charge'] },
};

export const TOPUPS: LongList = {
  route: 'topups.list',
  perCustomer: 'all',
  fixtures: [
    {
      table: 'topups',
      columns: {
        ...{
          ...CUSTOMER_COLUMNS,
          public_no: 'i',
          order_ref: `'test' || i`,
          coin: valueSql('LTC', 'BTC', 'XMR'),
        },
        ...{ amount_cents: '3000', bonus_cents: '0', deposit_address: `'test' || i`, deposit_uri: `''` },
        ...{ deposit_units: '1', rate_usd: `'1'`, required_confirmations: '1', expires_at: 'at' },
        status: valueSql('confirming', 'credited', 'expired'),
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
  read: (sql, page) => pageTopups(sql, CUSTOMER_ID, page),
  sorts: BY_AGE,
  filters: { status: ['confirming', 'credited'], coin: ['LTC', 'BTC'] },
  // The first combination matches no row, the second only old rows.
  combinations: [
    { status: 'expired', coin: 'BTC' },
    { status: 'credited', coin: 'BTC' },
  ],
};

export const TICKETS: LongList = {
  route: 'tickets.list',
  perCustomer: 'all',
  fixtures: [
    {
      table: 'tickets',
      columns: {
        ...{ ...CUSTOMER_COLUMNS, subject_sealed: `''`, updated_at: 'at' },
        status: valueSql('answered', 'open', 'open'),
      },
    },
  ],
  read: (sql, page) => pageTickets(sql, CUSTOMER_ID, page),
  sorts: BY_AGE,
  filters: { status: ['answered', 'open'] },
};

export const SNAPSHOTS: LongList = {
  route: 'snapshots.list',
  perCustomer: 'all',
  fixtures: [
    {
      table: 'snapshots',
      columns: {
        // Each server has as many snapshots as its quota allows.
        ...{
          ...NAMED_COLUMNS,
          server_id: idSql(`i / ${QUOTAS.snapshotsPerServer}`),
          region_id: 'word',
          disk_gb: '10',
        },
        ...{ image_id: IMAGE_ID_SQL, generation: '1', status: valueSql('creating', 'ready', 'error') },
        type: valueSql('backup', 'manual', 'manual'),
        labels: LABELS_SQL,
      },
    },
  ],
  read: (sql, page) => pageSnapshots(sql, CUSTOMER_ID, page),
  sorts: BY_AGE_OR_NAME,
  filters: { server: [publicIdOf('server', 1)], status: ['creating', 'ready'], name: NAME_VALUES },
  combinations: [
    { server: publicIdOf('server', 1), status: 'ready' },
    { server: publicIdOf('server', 1), name: 'old' },
    { status: 'error', name: 'old' },
    { status: 'ready', name: 'old' },
    { server: publicIdOf('server', 1), status: 'ready', name: 'old' },
  ],
  scanning: {
    perCustomer: QUOTAS.snapshots,
    filters: { label: [...LABEL_VALUES, 'word:none'], type: ['backup', 'manual'] },
    combinations: [
      { type: 'backup', server: publicIdOf('server', 1) },
      { type: 'backup', status: 'ready', label: 'word:old' },
      { label: TWO_LABELS },
      { label: 'word:old', status: 'ready' },
      { label: 'word:old', name: 'old' },
      { label: 'word:once', status: 'ready', name: 'old' },
      { label: 'word:old', server: publicIdOf('server', 1) },
    ],
  },
};

export const DELIVERIES: LongList = {
  route: 'deliveries.list',
  perCustomer: 'all',
  fixtures: [
    {
      table: 'deliveries',
      columns: {
        ...{ ...CUSTOMER_COLUMNS, delivery_id: 'id', webhook_id: 'customer', event_id: 'id', attempt: '1' },
        ...{ event_type: valueSql('ping', 'server.running', 'server.stopped') },
        ...{ status: valueSql('pending', 'delivered', 'failed') },
      },
    },
  ],
  read: (sql, page) =>
    pageDeliveries(sql, { customerId: CUSTOMER_ID, webhookId: CUSTOMER_ID, since: FIRST_AT }, page),
  sorts: BY_AGE,
  filters: { status: ['pending', 'delivered'], event_type: ['ping', 'server.running'] },
  combinations: [
    { status: 'failed', event_type: 'server.running' },
    { status: 'delivered', event_type: 'server.running' },
  ],
};

/** Times at one quarter and at three quarters of the list. */
const [FROM, TO] = ['@0.25', '@0.75'];

export const AUDIT_EVENTS: LongList = {
  route: 'audit_events.list',
  perCustomer: 'all',
  fixtures: [
    {
      table: 'audit_events',
      columns: {
        ...{ ...CUSTOMER_COLUMNS, action: valueSql('server.rebuild', 'server.stop', 'server.start') },
        // Most resources have one event; one resource has all the old events.
        resource: `case when once then 'once' when old then 'old' else 'srv_' || i end`,
        ...{ request_id: `'req_'`, ip_country: `'XX'`, result: `'ok'` },
      },
    },
  ],
  read: (sql, page) => pageAuditEvents(sql, CUSTOMER_ID, FIRST_AT, page),
  sorts: BY_AGE,
  filters: {
    action: ['server.rebuild', 'server.stop'],
    resource: NAME_VALUES,
    ...{ from: [FROM], to: [TO] },
  },
  combinations: [
    { action: 'server.start', resource: 'old' },
    { action: 'server.stop', resource: 'old' },
    { from: FROM, to: TO },
    { from: '@0.5', to: '@0.55' },
    { action: 'server.stop', from: FROM, to: TO },
    { resource: 'old', from: FROM, to: TO },
    { action: 'server.start', resource: 'old', from: FROM, to: TO },
  ],
};

const ACTION_FIXTURES = [
  {
    table: 'actions',
    columns: {
      ...{ ...CUSTOMER_COLUMNS, command: valueSql('server.rebuild', 'server.stop', 'server.start') },
      status: valueSql('running', 'success', 'error'),
      ...{ error_code: `case when not once and not old then 'timeout' end` },
      ...{ error_message: `case when not once and not old then 'It took too long.' end` },
      finished_at: `case when not once then at end`,
      // Most resources have one action; one resource has all the old ones.
      resource_id: `case when once then ${idSql('1')} when old then ${idSql('2')} else id end`,
      ...{ resource_kind: `'server'`, steps: `'{boot}'::text[]`, step_times: 'array[at]', progress: '100' },
      request_id: `'req_'`,
    },
  },
];

export const ACTIONS: LongList = {
  route: 'actions.list',
  perCustomer: 'all',
  fixtures: ACTION_FIXTURES,
  read: (sql, page) => pageActions(sql, CUSTOMER_ID, page),
  sorts: BY_AGE,
  filters: {
    status: ['running', 'success'],
    command: ['server.rebuild', 'server.stop'],
    resource: [publicIdOf('server', 1), publicIdOf('server', 2)],
  },
  combinations: [
    { status: 'error', command: 'server.stop' },
    { status: 'success', command: 'server.stop' },
    { status: 'error', resource: publicIdOf('server', 2) },
    { status: 'success', resource: publicIdOf('server', 2) },
    { command: 'server.start', resource: publicIdOf('server', 2) },
    { command: 'server.stop', resource: publicIdOf('server', 2) },
    { status: 'success', command: 'server.stop', resource: publicIdOf('server', 2) },
    { status: 'error', command: 'server.stop', resource: publicIdOf('server', 2) },
  ],
};

/** The same list with a fixed resource. */
export const SERVER_ACTIONS: LongList = {
  ...ACTIONS,
  // In the same table, with other ids.
  fixtures: ACTION_FIXTURES.map(({ table, columns }) => ({
    table,
    columns: { ...columns, id: idSql('i + 1000000000') },
  })),
  route: 'actions.of_server',
  read: (sql, page) =>
    pageActions(sql, CUSTOMER_ID, { ...page, filter: { ...page.filter, resource: publicIdOf('server', 2) } }),
  filters: { status: ['error', 'success'], command: ['server.start', 'server.stop'] },
  combinations: [
    { status: 'success', command: 'server.stop' },
    { status: 'error', command: 'server.stop' },
  ],
};

/** Lists that nothing bounds. */
import { QUOTAS } from '../../../src/spec/limits.ts';
import { pageAuditEvents } from '../../../src/store/audit.ts';
import { pageDeliveries } from '../../../src/store/deliveries.ts';
import { pageLedger } from '../../../src/store/ledger.ts';
import { listSnapshots } from '../../../src/store/snapshots.ts';
import { pageTopups } from '../../../src/store/topups.ts';
import { BY_AGE, BY_AGE_OR_NAME, IMAGE, type LongList, NAMED, NAMES, OWN, shown } from './list.ts';
import { FIRST_AT, idAt, MINE, words } from './rows.ts';

export const LEDGER: LongList = {
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

export const TOPUPS: LongList = {
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

export const SNAPSHOTS: LongList = {
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

export const DELIVERIES: LongList = {
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

export const AUDIT_EVENTS: LongList = {
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

import type { TopupObject, TopupWithPayments } from '../../../../domain/staff/topups.ts';
import { CONSOLE_PATHS } from '../../../../panel/staff/layout.ts';
import { type RoomTable, type Shown, tableOf } from '../../../../panel/staff/room.ts';
import { type Room, roomItemPath } from '../../room.ts';

const isMore = (amount: string) => Number(amount) > 0;

/** The amount with its coin; null: nothing. */
const amount =
  (read: (row: TopupObject) => string) =>
  (row: TopupObject): string | null =>
    isMore(read(row)) ? `${read(row)} ${row.coin}` : null;

const STATUS: Shown<TopupObject> = {
  name: 'Status',
  value: (row) => {
    if (isMore(row.withheld_amount)) return 'withheld';
    if (isMore(row.unsent_amount)) return 'refund pending';
    return row.reversed_at === null ? row.status : 'reversed';
  },
  as: 'state',
  tones: {
    credited: 'good',
    confirming: 'busy',
    withheld: 'bad',
    'refund pending': 'bad',
    reversed: 'bad',
  },
};

const CUSTOMER: Shown<TopupObject> = { name: 'Customer', value: ({ customer }) => customer, as: 'customer' };
const CREATED: Shown<TopupObject> = { name: 'Created', value: ({ created_at: at }) => at, as: 'time' };

const PAYMENTS: RoomTable<TopupWithPayments, TopupWithPayments['payments'][number]> = {
  title: 'Payments',
  rows: ({ payments }) => payments,
  columns: [
    { name: 'Amount', value: (row) => row.amount },
    {
      name: 'On the chain',
      value: ({ state, agreed }) => (agreed ? state : `${state}, not on the second node`),
    },
    { name: 'Confirmations', value: ({ confirmations }) => confirmations, as: 'number' },
    { name: 'Credited', value: ({ credited_usd: usd }) => usd, as: 'usd' },
    { name: 'Withheld', value: ({ withheld }) => withheld || null },
    { name: 'Refunded', value: ({ refunded_at: at }) => at, as: 'time' },
    { name: 'First seen', value: ({ first_seen_at: at }) => at, as: 'time' },
    { name: 'Transaction', value: ({ txid }) => txid, as: 'code' },
  ],
  empty: 'No payment was seen.',
};

const REFUNDS: RoomTable<TopupWithPayments, TopupWithPayments['refunds'][number]> = {
  title: 'Refunds',
  rows: ({ refunds }) => refunds,
  columns: [
    { name: 'Amount', value: (row) => row.amount },
    { name: 'To', value: ({ to }) => to, as: 'code' },
    { name: 'Approved by', value: ({ approved_by: by }) => by },
    { name: 'Approved', value: ({ approved_at: at }) => at, as: 'time' },
    { name: 'Transaction', value: ({ txid }) => txid ?? 'not sent yet' },
    { name: 'Note', value: ({ note }) => note },
  ],
  empty: 'Nothing was refunded.',
};

export const TOPUPS_ROOM: Room<TopupWithPayments> = {
  section: 'topups',
  path: CONSOLE_PATHS.topups,
  title: 'Top-ups',
  many: 'top-ups',
  list: 'topups.list',
  filters: [
    ['customer', 'Customer'],
    ['status', 'Status'],
    ['note', 'Attention'],
    ['coin', 'Coin'],
  ],
  columns: [
    {
      name: 'Order',
      value: (row) => row.order_ref,
      as: 'short',
      link: ({ id }) => roomItemPath(TOPUPS_ROOM, id),
    },
    STATUS,
    CUSTOMER,
    { name: 'Requested', value: (row) => row.amount_usd, as: 'usd' },
    { name: 'Received', value: (row) => `${row.received_amount} ${row.coin}` },
    { name: 'Credited', value: (row) => row.credited_usd + row.bonus_usd, as: 'usd' },
    CREATED,
  ],
  item: {
    get: 'topups.get',
    id: ({ id }) => id,
    title: (row) => row.order_ref,
    state: STATUS,
    details: [
      { name: 'ID', value: ({ id }) => id, as: 'code' },
      CUSTOMER,
      { name: 'Status', value: ({ status }) => status },
      { name: 'Requested', value: (row) => row.amount_usd, as: 'usd' },
      { name: 'Address', value: (row) => row.deposit_address, as: 'code' },
      { name: 'Expected', value: (row) => `${row.deposit_amount} ${row.coin}` },
      { name: 'Rate', value: (row) => `${row.rate_usd} US dollars` },
      { name: 'Rate valid until', value: (row) => row.expires_at, as: 'time' },
      { name: 'Received', value: (row) => `${row.received_amount} ${row.coin}` },
      { name: 'Withheld', value: amount((row) => row.withheld_amount) },
      { name: 'Refunded', value: amount((row) => row.refunded_amount) },
      { name: 'Refund pending', value: amount((row) => row.unsent_amount) },
      { name: 'Credited', value: (row) => row.credited_usd, as: 'usd' },
      { name: 'Bonus', value: (row) => row.bonus_usd, as: 'usd' },
      { name: 'Taken back', value: (row) => row.reversed_usd || null, as: 'usd' },
      { name: 'Canceled', value: (row) => row.cancelled_at, as: 'time' },
      CREATED,
    ],
    tables: [tableOf(PAYMENTS), tableOf(REFUNDS)],
    acts: [
      {
        operation: 'topups.release',
        title: 'Credit the withheld payments',
        button: 'Credit payments',
        when: (row) => isMore(row.withheld_amount),
        notice: 'released',
      },
      {
        operation: 'topups.refund',
        title: 'Refund the withheld payments',
        button: 'Approve refund',
        isDangerous: true,
        text: 'They are never credited. The service sends no coins: send them from your own wallet.',
        when: (row) => isMore(row.withheld_amount) && !isMore(row.unsent_amount),
      },
      {
        operation: 'topups.mark_refunded',
        title: 'Record the transaction of the refund',
        button: 'Record transaction',
        text: 'Do this when you have sent the coins.',
        when: (row) => isMore(row.unsent_amount),
      },
    ],
  },
};

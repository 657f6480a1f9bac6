import type { DepositObject } from '../../../../domain/staff/topups.ts';
import { CONSOLE_PATHS } from '../../../../panel/staff/layout.ts';
import type { Room } from '../../room.ts';

export const DEPOSITS_ROOM: Room<DepositObject> = {
  section: 'deposits',
  path: CONSOLE_PATHS.deposits,
  title: 'Payments',
  many: 'payments',
  intro:
    'All payments to addresses of top-ups. Those that are not credited wait for confirmations or for the ' +
    'second node, or are too small.',
  list: 'deposits.list',
  filters: [
    ['outcome', 'Result'],
    ['state', 'On the chain'],
    ['coin', 'Coin'],
  ],
  columns: [
    { name: 'Transaction', value: ({ txid }) => txid, as: 'short' },
    {
      name: 'Top-up',
      value: (row) => row.order_ref,
      as: 'short',
      link: ({ topup }) => `${CONSOLE_PATHS.topups}/${topup}`,
    },
    { name: 'Customer', value: ({ customer }) => customer, as: 'customer' },
    { name: 'Amount', value: (row) => `${row.amount} ${row.coin}` },
    {
      name: 'Result',
      value: ({ outcome }) => outcome.replace('_', ' '),
      as: 'state',
      tones: { credited: 'good', withheld: 'bad', 'not credited': 'busy' },
    },
    { name: 'On the chain', value: ({ state, agreed }) => (agreed ? state : `${state}, disputed`) },
    { name: 'Credited', value: (row) => row.credited_usd, as: 'usd' },
    { name: 'First seen', value: ({ first_seen_at: at }) => at, as: 'time' },
  ],
};

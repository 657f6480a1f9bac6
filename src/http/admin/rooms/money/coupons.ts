import type { CouponObject, CouponWithUses } from '../../../../domain/billing/coupons/manage.ts';
import { CONSOLE_PATHS } from '../../../../panel/staff/layout.ts';
import { type RoomTable, type Shown, tableOf } from '../../../../panel/staff/room.ts';
import { type Room, roomItemPath } from '../../room.ts';

const STATE: Shown<CouponObject> = {
  name: 'State',
  value: ({ state }) => state.replace('_', ' '),
  as: 'state',
  tones: { active: 'good' },
};

const FACTS: readonly Shown<CouponObject>[] = [
  { name: 'Amount', value: (row) => row.amount_usd, as: 'usd' },
  { name: 'Uses', value: ({ uses, max_uses: max }) => `${uses} of ${max}` },
  { name: 'Credited', value: (row) => row.credited_usd, as: 'usd' },
  {
    name: 'For',
    value: ({ account_days: days }) =>
      days === null ? 'all customers' : `accounts younger than ${days} ${days === 1 ? 'day' : 'days'}`,
  },
  { name: 'Valid until', value: (row) => row.expires_at, as: 'time' },
];

const REDEMPTIONS: RoomTable<CouponWithUses, CouponWithUses['redemptions'][number]> = {
  title: 'Latest uses',
  rows: ({ redemptions }) => redemptions,
  columns: [
    {
      name: 'Customer',
      value: ({ customer }) => customer,
      link: (row) => `${CONSOLE_PATHS.customers}/${row.customer_id}`,
    },
    { name: 'Used', value: (row) => row.redeemed_at, as: 'time' },
  ],
  empty: 'No customer has used it.',
};

export const COUPONS_ROOM: Room<CouponWithUses> = {
  section: 'coupons',
  path: CONSOLE_PATHS.coupons,
  title: 'Coupons',
  many: 'coupons',
  intro: 'Codes that customers enter on their billing page to add credit to their balance.',
  list: 'coupons.list',
  columns: [
    { name: 'Code', value: ({ code }) => code, link: ({ id }) => roomItemPath(COUPONS_ROOM, id) },
    STATE,
    ...FACTS,
    { name: 'Created', value: (row) => row.created_at, as: 'time' },
  ],
  creates: [
    {
      operation: 'coupons.create',
      title: 'Create a coupon',
      button: 'Create coupon',
      text: 'Its amount and limits cannot be changed. End it, and create another one.',
    },
  ],
  item: {
    get: 'coupons.get',
    id: ({ id }) => id,
    title: ({ code }) => code,
    state: STATE,
    details: [
      ...FACTS,
      { name: 'Note', value: ({ note }) => note || null },
      { name: 'Created', value: (row) => row.created_at, as: 'time' },
      { name: 'Ended', value: (row) => row.ended_at, as: 'time' },
    ],
    tables: [tableOf(REDEMPTIONS)],
    acts: [
      {
        operation: 'coupons.end',
        title: 'End the coupon',
        button: 'End coupon',
        text: 'No one can use it from now on. Credit that customers have stays.',
        isDangerous: true,
        when: ({ state }) => state !== 'ended',
      },
    ],
  },
};

import type { PlanWithPrices } from '../../../../domain/catalogue/plans.ts';
import { CONSOLE_PATHS } from '../../../../panel/staff/layout.ts';
import { type RoomTable, type Shown, tableOf } from '../../../../panel/staff/room.ts';
import { type Room, roomItemPath } from '../../room.ts';
import type { RoomAct } from '../../room-acts.ts';

const STATE: Shown<PlanWithPrices> = {
  name: 'State',
  value: ({ active }) => (active ? 'sold' : 'retired'),
  as: 'state',
  tones: { sold: 'good' },
};

const HARDWARE: Shown<PlanWithPrices> = {
  name: 'Hardware',
  value: (row) => `${row.cpu} CPU, ${row.ram_mb / 1_024} GiB, ${row.disk_gb} GB`,
};

const PRICE: Shown<PlanWithPrices> = { name: 'New orders', value: (row) => row.price_usd, as: 'usd' };
const REGIONS: Shown<PlanWithPrices> = { name: 'Regions', value: ({ regions }) => regions.join(', ') };

const PAYERS: readonly Shown<PlanWithPrices>[] = [
  { name: 'Servers that renew', value: ({ servers }) => servers, as: 'number' },
  { name: 'Customers', value: ({ customers }) => customers, as: 'number' },
  { name: 'They pay a month', value: (row) => row.monthly_usd, as: 'usd' },
];

type Preview = NonNullable<PlanWithPrices['preview']>;

const PREVIEW: RoomTable<PlanWithPrices, Preview> = {
  title: 'Effect of the new price',
  rows: ({ preview }) => (preview ? [preview] : []),
  columns: [
    { name: 'Change', value: (row) => `${row.change_percent > 0 ? '+' : ''}${row.change_percent} %` },
    { name: 'New price', value: (row) => row.price_usd, as: 'usd' },
    { name: 'Servers with another price', value: ({ servers }) => servers, as: 'number' },
    { name: 'Of customers', value: ({ customers }) => customers, as: 'number' },
    { name: 'They pay a month', value: (row) => row.monthly_usd, as: 'usd' },
    { name: 'They would pay', value: (row) => row.new_monthly_usd, as: 'usd' },
  ],
  empty: 'Enter a price above to see whom it concerns. Nothing changes until you confirm it.',
};

const ANNOUNCED: RoomTable<PlanWithPrices, PlanWithPrices['announced'][number]> = {
  title: 'Announced prices for existing servers',
  rows: ({ announced }) => announced,
  columns: [
    { name: 'Announcement', value: ({ id }) => id, as: 'code' },
    { name: 'Price', value: (row) => row.price_usd, as: 'usd' },
    {
      name: 'State',
      value: ({ state }) => (state === 'cancelled' ? 'canceled' : state),
      as: 'state',
      tones: { announced: 'busy', 'in force': 'good' },
    },
    { name: 'Announced', value: (row) => row.announced_at, as: 'time' },
    { name: 'From', value: (row) => row.effective_at, as: 'time' },
  ],
  empty: 'None. Existing servers keep the price of their order.',
};

const nextOf = ({ announced }: PlanWithPrices) => announced.find(({ state }) => state === 'announced');

const newPrice = ({ preview }: PlanWithPrices) => ({ price_usd: preview?.price_usd.toFixed(2) ?? null });

const EDITS: readonly RoomAct<PlanWithPrices>[] = [
  {
    operation: 'plans.change',
    title: 'Change',
    button: 'Save plan',
    text: 'The price has its own form: enter it above. A plan with servers keeps its hardware.',
    hasPreview: true,
    when: ({ active }) => active,
    values: (row) => ({
      ...{ category: row.category, cpu: row.cpu, cpu_model: row.cpu_model, ram_mb: row.ram_mb },
      ...{ disk_gb: row.disk_gb, transfer_tb: row.transfer_tb, backup_percent: row.backup_percent },
      ...{ host_tags: row.host_tags.join(' '), regions: row.regions.join(' ') },
    }),
  },
  {
    operation: 'plans.retire',
    title: 'Retire',
    button: 'Retire plan',
    isDangerous: true,
    hasPreview: true,
    when: ({ active }) => active,
  },
  {
    operation: 'plans.restore',
    title: 'Sell again',
    button: 'Sell plan again',
    hasPreview: true,
    when: ({ active }) => !active,
  },
];

export const PLANS_ROOM: Room<PlanWithPrices> = {
  section: 'plans',
  path: CONSOLE_PATHS.plans,
  title: 'Plans and prices',
  many: 'plans',
  intro: 'The catalog that you sell.',
  list: 'plans.list',
  links: [
    ['Regions', CONSOLE_PATHS.regions],
    ['Images', CONSOLE_PATHS.images],
  ],
  columns: [
    { name: 'Plan', value: ({ id }) => id, link: ({ id }) => roomItemPath(PLANS_ROOM, id) },
    STATE,
    HARDWARE,
    REGIONS,
    PRICE,
    ...PAYERS,
    { name: 'Counted', value: (row) => row.counted_at, as: 'time' },
  ],
  creates: [{ operation: 'plans.create', title: 'Add a plan', button: 'Add plan', hasPreview: true }],
  item: {
    get: 'plans.get',
    asks: [['price_usd', 'New price in US dollars a month']],
    id: ({ id }) => id,
    title: ({ id }) => id,
    state: STATE,
    details: [
      PRICE,
      { name: 'Backups', value: (row) => `${row.backup_percent} % of the price` },
      { name: 'Kind', value: ({ category }) => category },
      HARDWARE,
      { name: 'CPU', value: (row) => row.cpu_model },
      { name: 'Transfer', value: (row) => `${Number(row.transfer_tb)} TiB a month` },
      REGIONS,
      ...PAYERS,
    ],
    tables: [tableOf(PREVIEW), tableOf(ANNOUNCED)],
    acts: [
      ...EDITS,
      {
        operation: 'plans.set_price',
        title: 'Change the price of new orders',
        button: 'Change price',
        text: 'Existing servers keep their price. It is in force at once.',
        when: ({ preview, active }) => preview !== null && active,
        values: (row) => ({ ...newPrice(row), was_usd: row.price_usd.toFixed(2) }),
      },
      {
        operation: 'plans.announce_price',
        title: 'Announce the price for existing servers',
        button: 'Announce price',
        text: 'Customers get a mail. Their cycles that begin after the date cost the new price.',
        isDangerous: true,
        when: ({ preview }) => preview !== null,
        values: newPrice,
      },
      {
        operation: 'plans.cancel_price',
        title: 'Cancel an announcement',
        button: 'Cancel announcement',
        text: 'It must not be in force yet. Customers get no mail about it.',
        when: (row) => nextOf(row) !== undefined,
        values: (row) => ({ announcement: nextOf(row)?.id ?? null }),
      },
    ],
  },
};

import type { PaidAddress } from '../../../../domain/topups/addresses/sweep.ts';
import type { readCoinObject } from '../../../../domain/topups/chains/describe.ts';
import { CONSOLE_PATHS } from '../../../../panel/staff/layout.ts';
import { type RoomTable, type Shown, tableOf } from '../../../../panel/staff/room.ts';
import { type Room, roomItemPath } from '../../room.ts';

type Coin = Awaited<ReturnType<typeof readCoinObject>>;

const STATE: Shown<Coin> = {
  name: 'State',
  value: ({ state }) => state,
  as: 'state',
  tones: { ok: 'good', 'behind its marks': 'bad', 'not read': 'bad', 'no rate': 'bad' },
};

const RATE: Shown<Coin> = { name: 'US dollars', value: (row) => row.rate_usd };

const PRICES: readonly Shown<Coin>[] = [
  { name: 'Sources', value: (row) => row.rate_sources.join(', ') },
  { name: 'Spread', value: (row) => row.spread_percent && `${row.spread_percent} %` },
  { name: 'Oldest price', value: (row) => row.rate_at, as: 'time' },
];

const CHAIN: readonly Shown<Coin>[] = [
  { name: 'Read to block', value: ({ height }) => height, as: 'number' },
  { name: 'Read completely', value: (row) => row.read_at, as: 'time' },
];

const POOL: Shown<Coin> = {
  name: 'Pool',
  value: (row) => (row.pool_free === null ? null : `${row.pool_free} of ${row.pool_size} free`),
};

const QUOTES: RoomTable<Coin, Coin['quotes'][number]> = {
  title: 'Latest prices',
  rows: ({ quotes }) => quotes,
  columns: [
    { name: 'Source', value: ({ source }) => source },
    { name: 'US dollars', value: ({ usd }) => usd },
    { name: 'At', value: ({ at }) => at, as: 'time' },
  ],
  empty: 'No price source was read. Rates are fixed in the settings, or simulated.',
};

export const COINS_ROOM: Room<Coin> = {
  section: 'coins',
  path: CONSOLE_PATHS.coins,
  title: 'Coins and rates',
  many: 'coins',
  list: 'coins.list',
  columns: [
    { name: 'Coin', value: ({ id }) => id, link: ({ id }) => roomItemPath(COINS_ROOM, id) },
    STATE,
    RATE,
    ...CHAIN,
    { name: 'Addresses given out', value: (row) => row.addresses_given, as: 'number' },
    POOL,
  ],
  item: {
    get: 'coins.get',
    id: ({ id }) => id,
    title: ({ id, network }) => `${id} on ${network}`,
    state: STATE,
    details: [
      RATE,
      ...PRICES,
      { name: 'No rate because', value: (row) => row.rate_problem },
      ...CHAIN,
      { name: 'Failed polls in a row', value: ({ failures }) => failures || null, as: 'number' },
      { name: 'Last error', value: (row) => row.last_fault },
      { name: 'Next index', value: (row) => row.next_index, as: 'number' },
      { name: 'Addresses given out', value: (row) => row.addresses_given, as: 'number' },
      POOL,
    ],
    tables: [tableOf(QUOTES)],
    links: ({ id }) => [
      ['Payments', `${CONSOLE_PATHS.deposits}?coin=${id}`],
      ['Paid addresses', `${CONSOLE_PATHS.paidAddresses}?coin=${id}`],
    ],
    acts: [
      {
        operation: 'coins.recover',
        title: 'Recover after a restore',
        button: 'Raise the numbers',
        text: 'Addresses given out since the backup are never given out again. This includes all coins.',
        when: (row) => row.behind_marks,
      },
      {
        operation: 'coins.import_addresses',
        title: 'Import addresses',
        button: 'Import addresses',
        when: (row) => row.pool_free !== null,
      },
      {
        operation: 'coins.reread',
        title: 'Read blocks again',
        button: 'Read again',
        text: 'Finds missed payments. Nothing is credited twice.',
        when: (row) => row.height !== null,
        values: ({ height }) => ({ height }),
      },
      {
        operation: 'coins.skip_addresses',
        title: 'Skip addresses',
        button: 'Skip addresses',
        isDangerous: true,
        text: 'The next addresses are never given out. Do this after you restored a database without marks.',
      },
    ],
  },
};

interface NodeFinding {
  readonly level: string;
  readonly subject: string;
  readonly message: string;
}

export const NODES_ROOM: Room<NodeFinding> = {
  section: 'nodes',
  path: CONSOLE_PATHS.nodes,
  title: 'Nodes',
  many: 'nodes',
  intro:
    'Each node was asked just now. A slow one counts as failing here; skerryd chain doctor waits longer.',
  list: 'nodes.check',
  isSlow: true,
  columns: [
    { name: 'Coin', value: ({ subject }) => subject },
    {
      name: 'State',
      value: ({ level }) => level,
      as: 'state',
      tones: { ok: 'good', warn: 'busy', fail: 'bad' },
    },
    { name: 'Finding', value: ({ message }) => message },
  ],
};

export const PAID_ADDRESSES_ROOM: Room<PaidAddress> = {
  section: 'paidAddresses',
  path: CONSOLE_PATHS.paidAddresses,
  title: 'Paid addresses',
  many: 'paid addresses',
  intro:
    'Addresses to sweep with the offline wallet. The amounts are what they ever received: the service does ' +
    'not see what you swept.',
  list: 'paid_addresses.list',
  filters: [
    ['coin', 'Coin'],
    ['since', 'Paid since'],
  ],
  hasDownload: true,
  columns: [
    { name: 'Address', value: ({ address }) => address, as: 'code' },
    { name: 'Received', value: ({ received }) => received },
    { name: 'Coin', value: ({ coin }) => coin },
    { name: 'Payments', value: ({ payments }) => payments, as: 'number' },
    { name: 'Last paid', value: (row) => row.last_paid_at, as: 'time' },
    { name: 'Top-up', value: (row) => row.order_ref, link: ({ id }) => `${CONSOLE_PATHS.topups}/${id}` },
  ],
};

import type { readRegionObject } from '../../../../domain/catalogue/plans.ts';
import { CONSOLE_PATHS } from '../../../../panel/staff/layout.ts';
import type { Shown } from '../../../../panel/staff/room.ts';
import { type Room, roomItemPath } from '../../room.ts';
import type { RoomAct } from '../../room-acts.ts';

type Region = Awaited<ReturnType<typeof readRegionObject>>;

const STATE: Shown<Region> = {
  name: 'State',
  value: ({ active }) => (active ? 'open' : 'closed'),
  as: 'state',
  tones: { open: 'good' },
};

const FACTS: readonly Shown<Region>[] = [
  { name: 'Country', value: ({ country }) => country },
  { name: 'Location', value: (row) => row.pop_id },
  { name: 'Disks', value: (row) => row.disk_storage },
  { name: 'Volumes', value: (row) => row.volume_storage },
];

const ACTS: readonly RoomAct<Region>[] = [
  {
    operation: 'regions.change',
    title: 'Change',
    button: 'Save region',
    hasPreview: true,
    when: ({ active }) => active,
    values: (row) => ({
      ...{ session_code: row.session_code, name: row.name, country: row.country, pop_id: row.pop_id },
      tor_onion: row.tor_onion,
      ...{ volume_storage: row.volume_storage, disk_storage: row.disk_storage },
    }),
  },
  {
    operation: 'regions.close',
    title: 'Close',
    button: 'Close region',
    text: 'No new orders. Note the plans that are sold here: name them when you open it again.',
    isDangerous: true,
    hasPreview: true,
    when: ({ active }) => active,
  },
  {
    operation: 'regions.open',
    title: 'Open again',
    button: 'Open region',
    hasPreview: true,
    when: ({ active }) => !active,
  },
];

export const REGIONS_ROOM: Room<Region> = {
  section: 'plans',
  path: CONSOLE_PATHS.regions,
  title: 'Regions',
  many: 'regions',
  list: 'regions.list',
  columns: [
    { name: 'Region', value: ({ id }) => id, link: ({ id }) => roomItemPath(REGIONS_ROOM, id) },
    { name: 'Name', value: ({ name }) => name },
    STATE,
    ...FACTS,
  ],
  creates: [{ operation: 'regions.create', title: 'Add a region', button: 'Add region', hasPreview: true }],
  item: {
    get: 'regions.get',
    id: ({ id }) => id,
    title: ({ name }) => name,
    state: STATE,
    details: [
      { name: 'Code', value: ({ id }) => id },
      { name: 'Session code', value: (row) => row.session_code },
      ...FACTS,
      { name: 'Onion address', value: (row) => row.tor_onion },
      { name: 'Plans', value: ({ plans }) => plans.join(', ') },
      { name: 'Servers', value: ({ servers }) => servers, as: 'number' },
      { name: 'Customers', value: ({ customers }) => customers, as: 'number' },
    ],
    acts: ACTS,
  },
};

import type { CustomImageObject, readImageObject } from '../../../domain/staff/images.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import type { Shown } from '../../../panel/staff/room.ts';
import { type Room, roomItemPath } from '../room.ts';
import type { RoomAct } from '../room-acts.ts';

type Image = Awaited<ReturnType<typeof readImageObject>>;

const stateOf = ({ active, deprecated }: Image) =>
  active ? (deprecated ? 'deprecated' : 'offered') : 'retired';

const STATE: Shown<Image> = { name: 'State', value: stateOf, as: 'state', tones: { offered: 'good' } };

const DISK: readonly Shown<Image>[] = [
  { name: 'Disk', value: (row) => row.disk_gb && `${row.disk_gb} GiB` },
  { name: 'Checksum', value: ({ sha256 }) => sha256?.slice(0, 12) },
  { name: 'On hosts', value: (row) => row.sha256 && `${row.hosts_ready} of ${row.hosts_wanted}` },
  { name: 'Transfers', value: ({ transfers }) => transfers.join(', ') },
];

const ACTS: readonly RoomAct<Image>[] = [
  {
    operation: 'images.change',
    title: 'Change or deprecate',
    button: 'Save image',
    hasPreview: true,
    when: ({ active }) => active,
    values: (row) => ({
      ...{ arch: row.arch.join(' '), size_gb: row.size_gb, cloud_init: row.cloud_init },
      ...{ released_at: row.released_at, deprecated_at: row.deprecated_at },
    }),
  },
  {
    operation: 'images.retire',
    title: 'Retire',
    button: 'Retire image',
    text: 'To keep it for rebuilds, deprecate it instead.',
    isDangerous: true,
    hasPreview: true,
    when: ({ active }) => active,
  },
  {
    operation: 'images.restore',
    title: 'Offer again',
    button: 'Offer image again',
    hasPreview: true,
    when: ({ active }) => !active,
  },
];

export const IMAGES_ROOM: Room<Image> = {
  section: 'images',
  path: CONSOLE_PATHS.images,
  title: 'Images',
  many: 'images',
  intro: 'Import the disk of an image on the command line: skerryd images import.',
  list: 'images.list',
  links: [['Images of customers', CONSOLE_PATHS.customImages]],
  columns: [
    { name: 'Image', value: ({ name }) => name, link: ({ id }) => roomItemPath(IMAGES_ROOM, id) },
    STATE,
    ...DISK,
  ],
  creates: [
    {
      operation: 'images.create',
      title: 'Add an image',
      button: 'Add image',
      text: 'Import its disk afterwards, on the command line.',
      hasPreview: true,
    },
  ],
  item: {
    get: 'images.get',
    id: ({ id }) => id,
    title: ({ name }) => name,
    state: STATE,
    details: [
      { name: 'ID', value: ({ id }) => id, as: 'code' },
      { name: 'Architectures', value: ({ arch }) => arch.join(', ') },
      { name: 'Size', value: (row) => `${Number(row.size_gb)} GiB` },
      { name: 'cloud-init', value: (row) => row.cloud_init },
      { name: 'Released', value: (row) => row.released_at },
      { name: 'Deprecated', value: (row) => row.deprecated_at },
      ...DISK,
      { name: 'Servers', value: ({ servers }) => servers, as: 'number' },
      { name: 'Customers', value: ({ customers }) => customers, as: 'number' },
    ],
    acts: ACTS,
  },
};

const GIB = 1024 ** 3;

export const CUSTOM_IMAGES_ROOM: Room<CustomImageObject> = {
  section: 'images',
  path: CONSOLE_PATHS.customImages,
  title: 'Images of customers',
  many: 'images',
  list: 'custom_images.list',
  filters: [['customer', 'Customer']],
  columns: [
    { name: 'Image', value: ({ name }) => name },
    { name: 'ID', value: ({ id }) => id, as: 'code' },
    { name: 'Customer', value: ({ customer }) => customer, as: 'customer' },
    { name: 'Size', value: (row) => `${(row.size_bytes / GIB).toFixed(2)} GiB` },
    { name: 'Servers', value: ({ servers }) => servers, as: 'number' },
  ],
};

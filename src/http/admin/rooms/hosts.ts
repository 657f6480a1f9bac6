import type { HostObject, StaffHost } from '../../../domain/staff/hosts.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import { type Shown, tableOf } from '../../../panel/staff/room.ts';
import type { Room } from '../room.ts';
import type { RoomAct } from '../room-acts.ts';

const NAME: Shown<HostObject> = {
  name: 'Host',
  value: ({ id }) => id,
  link: ({ id }) => `${CONSOLE_PATHS.hosts}/${encodeURIComponent(id)}`,
};

const STATE: Shown<HostObject> = {
  name: 'State',
  value: ({ state }) => state.replace('_', ' '),
  as: 'state',
  tones: { ok: 'good', lost: 'bad', away: 'bad', drained: 'busy' },
};

const percent = (used: number, all: number): number => (all === 0 ? 0 : Math.min(100, (used / all) * 100));

const USAGE: readonly Shown<HostObject>[] = [
  { name: 'Region', value: ({ region }) => region },
  {
    name: 'Memory used',
    as: 'meter',
    value: (row) => percent(row.used_ram_mb, row.ram_mb),
    text: (row) => `${row.used_ram_mb} of ${row.ram_mb} MiB`,
  },
  {
    name: 'Disk used',
    as: 'meter',
    value: (row) => percent(row.used_disk_gb, row.disk_gb),
    text: (row) => `${row.used_disk_gb} of ${row.disk_gb} GiB`,
  },
  { name: 'Servers', value: ({ servers }) => servers, as: 'number' },
];

const DETAILS: readonly Shown<HostObject>[] = [
  ...USAGE,
  { name: 'Detached volumes', value: ({ volumes }) => volumes, as: 'number' },
  { name: 'Snapshots', value: ({ snapshots }) => snapshots, as: 'number' },
  { name: 'Cores', value: ({ cores }) => cores, as: 'number' },
  { name: 'Reserved', value: (row) => `${row.reserve_ram_mb} MiB, ${row.reserve_disk_gb} GiB` },
  { name: 'Tags', value: ({ tags }) => tags.join(' ') },
  { name: 'Last seen', value: (row) => row.seen_at, as: 'time' },
  { name: 'Away since', value: (row) => row.away_since, as: 'time' },
  { name: 'Lost since', value: (row) => row.lost_at, as: 'time' },
  { name: 'Off for good since', value: (row) => row.fenced_at, as: 'time' },
  { name: 'Version', value: ({ version }) => version },
  { name: 'Load per core', value: ({ load }) => load?.toFixed(2) },
];

const TABLES = [
  tableOf<StaffHost, StaffHost['findings'][number]>({
    title: 'Findings',
    rows: ({ findings }) => findings,
    empty: 'There are no findings.',
    columns: [
      {
        name: 'Level',
        value: ({ level }) => level,
        as: 'state',
        tones: { ok: 'good', warn: 'busy', fail: 'bad' },
      },
      { name: 'Finding', value: ({ message }) => message },
    ],
  }),
  tableOf<StaffHost, StaffHost['moving'][number]>({
    title: 'Moves to and from it',
    rows: ({ moving }) => moving,
    empty: 'Nothing moves.',
    columns: [
      {
        name: 'Moves',
        value: ({ id }) => id,
        link: ({ id, kind }) =>
          kind === 'server' ? `${CONSOLE_PATHS.servers}/${encodeURIComponent(id)}` : null,
      },
      { name: 'From', value: ({ from }) => from },
      { name: 'To', value: ({ to }) => to },
      { name: 'State', value: ({ state }) => state },
      { name: 'Failed', value: ({ attempts }) => attempts, as: 'number' },
    ],
  }),
  tableOf<StaffHost, StaffHost['contents'][number]>({
    title: 'Servers on it',
    rows: ({ contents }) => contents,
    empty: 'No servers are on this host.',
    columns: [
      {
        name: 'Server',
        value: ({ name }) => name,
        link: ({ id }) => `${CONSOLE_PATHS.servers}/${encodeURIComponent(id)}`,
      },
      { name: 'Status', value: ({ status }) => status, as: 'state', tones: { running: 'good' } },
      { name: 'Customer', value: ({ customer }) => customer, as: 'customer' },
      { name: 'Plan', value: ({ plan }) => plan },
    ],
  }),
];

const DRAINING: readonly RoomAct<StaffHost>[] = [
  {
    operation: 'hosts.drain',
    title: 'Drain',
    button: 'Drain host',
    text: 'Its servers keep running, and no new ones are placed on it.',
    when: ({ draining, lost_at: lostAt }) => !draining && lostAt === null,
  },
  {
    operation: 'hosts.undrain',
    title: 'End draining',
    button: 'End draining',
    text: 'Servers are placed on it again. Moves that have not begun are canceled.',
    when: ({ draining, lost_at: lostAt }) => draining && lostAt === null,
  },
  {
    operation: 'hosts.move_all',
    title: 'Move everything off',
    button: 'Move everything off',
    text: 'Drains the host, and moves its servers, volumes, and snapshots. Servers keep running.',
    notice: 'begun',
    values: () => ({ at_once: 2 }),
    when: ({ lost_at: lostAt }) => lostAt === null,
  },
];

const CHANGES: readonly RoomAct<StaffHost>[] = [
  {
    operation: 'hosts.resize',
    title: 'Capacity',
    button: 'Save capacity',
    values: (row) => ({ cores: row.cores, ram_mb: row.ram_mb, disk_gb: row.disk_gb }),
  },
  {
    operation: 'hosts.set',
    title: 'Tags and reserve',
    button: 'Save',
    values: (row) => ({
      tags: row.tags.join(' '),
      reserve_ram_mb: row.reserve_ram_mb,
      reserve_disk_gb: row.reserve_disk_gb,
    }),
  },
  {
    operation: 'hosts.remove',
    title: 'Remove the host',
    button: 'Remove host',
    isDangerous: true,
    text: 'Only an empty host can be removed.',
    to: () => CONSOLE_PATHS.hosts,
    when: (row) => row.servers + row.volumes + row.snapshots === 0,
  },
  {
    operation: 'hosts.revoke',
    title: 'Revoke its access',
    button: 'Revoke host',
    isDangerous: true,
    text: 'We never call the host again. Its servers run on, and their state is unknown.',
    when: ({ backend, state }) => backend !== null && state !== 'revoked',
  },
  {
    operation: 'hosts.lose',
    title: 'Give up the host',
    button: 'Give up host',
    isDangerous: true,
    text: 'For a host that does not come back. All data on its disks is lost. Its customers get an email.',
  },
  {
    operation: 'hosts.fence',
    title: 'Confirm that it is off for good',
    button: 'Confirm',
    text: 'Releases the addresses of its servers.',
    when: (row) => row.lost_at !== null && row.fenced_at === null,
  },
];

const CREATES: readonly RoomAct<undefined>[] = [
  {
    operation: 'hosts.add',
    title: 'Add a host',
    button: 'Add host',
    text: 'A host of the machine that the service runs on. Servers are placed on it at once.',
  },
  {
    operation: 'hosts.invite',
    title: 'Add a host on another machine',
    button: 'Create code',
    text: 'The code works for 15 minutes. The host is in the list as soon as it joins.',
    shows: ({ command }) => ({ 'Run as root on the new machine': String(command) }),
  },
];

export const HOSTS_ROOM: Room<StaffHost> = {
  section: 'hosts',
  path: CONSOLE_PATHS.hosts,
  title: 'Hosts',
  many: 'hosts',
  list: 'hosts.list',
  columns: [NAME, STATE, ...USAGE],
  creates: CREATES,
  item: {
    get: 'hosts.get',
    id: ({ id }) => id,
    title: ({ id }) => id,
    state: STATE,
    details: DETAILS,
    tables: TABLES,
    links: ({ id }) => [['Staff log', `${CONSOLE_PATHS.log}?target=${encodeURIComponent(id)}`]],
    acts: [...DRAINING, ...CHANGES],
  },
};

import type { HostObject } from '../../../domain/staff/hosts.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import type { Shown } from '../../../panel/staff/room.ts';
import type { Room } from '../room.ts';

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

const USAGE: readonly Shown<HostObject>[] = [
  { name: 'Region', value: ({ region }) => region },
  { name: 'Memory used', value: (row) => `${row.used_ram_mb} of ${row.ram_mb} MiB` },
  { name: 'Disk used', value: (row) => `${row.used_disk_gb} of ${row.disk_gb} GiB` },
  { name: 'Servers', value: ({ servers }) => servers, as: 'number' },
];

export const HOSTS_ROOM: Room<HostObject> = {
  section: 'hosts',
  path: CONSOLE_PATHS.hosts,
  title: 'Hosts',
  many: 'hosts',
  list: 'hosts.list',
  columns: [NAME, STATE, ...USAGE],
  item: {
    get: 'hosts.get',
    id: ({ id }) => id,
    title: ({ id }) => id,
    state: STATE,
    details: [
      ...USAGE,
      { name: 'Last seen', value: ({ seen_at: at }) => at, as: 'time' },
      { name: 'Away since', value: ({ away_since: at }) => at, as: 'time' },
      { name: 'Version', value: ({ version }) => version },
      { name: 'Load per core', value: ({ load }) => load?.toFixed(2) },
      { name: 'Tags', value: ({ tags }) => tags.join(' ') },
    ],
    links: ({ id }) => [['Servers', `${CONSOLE_PATHS.servers}?host=${encodeURIComponent(id)}`]],
    acts: [
      {
        operation: 'hosts.drain',
        title: 'Drain',
        button: 'Drain host',
        text: 'Its servers keep running, and no new ones are placed on it.',
        when: ({ draining }) => !draining,
      },
      {
        operation: 'hosts.undrain',
        title: 'End draining',
        button: 'End draining',
        when: ({ draining }) => draining,
      },
    ],
  },
};

import type { MachineObject } from '../../../domain/staff/machines.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import type { Shown } from '../../../panel/staff/room.ts';
import type { Room } from '../room.ts';
import type { RoomAct } from '../room-acts.ts';

const STATE: Shown<MachineObject> = {
  name: 'State',
  value: ({ state }) => state,
  as: 'state',
  tones: { free: 'good', wiping: 'busy', tested: 'busy' },
};

const FACTS: readonly Shown<MachineObject>[] = [
  { name: 'Plan', value: ({ plan }) => plan },
  { name: 'Region', value: ({ region }) => region },
  {
    name: 'Server',
    value: ({ server }) => server,
    link: ({ server }) => server && `${CONSOLE_PATHS.servers}/${encodeURIComponent(server)}`,
  },
  { name: 'Customer', value: ({ customer }) => customer, as: 'customer' },
  { name: 'Since', value: (row) => row.state_since, as: 'time' },
  { name: 'Work due', value: ({ due }) => due },
];

const ACTS: readonly RoomAct<MachineObject>[] = [
  {
    operation: 'machines.fulfill',
    title: 'Sell it to a customer',
    button: 'Sell machine',
    text: 'Charges the first cycle, and assigns addresses. Then set the machine up with them.',
    when: ({ state }) => state === 'free',
    shows: ({ server, ipv4, gateway, ipv6, ssh_keys: keys }) => ({
      ...{ Server: String(server), IPv4: String(ipv4), Gateway: String(gateway), IPv6: String(ipv6) },
      ...((keys as readonly string[]).length > 0 && { 'SSH keys': (keys as readonly string[]).join(' ') }),
    }),
  },
  {
    operation: 'machines.record_power',
    title: 'Record its power',
    button: 'Record',
    text: 'After you powered it off or on.',
    when: ({ state }) => state === 'sold',
    values: ({ off_since: off }) => ({ power: off === null ? 'off' : 'on' }),
  },
  {
    operation: 'machines.record_wipe',
    title: 'Record the wipe',
    button: 'Record wipe',
    text: 'After you wiped every disk and tested the machine.',
    when: ({ state }) => state === 'wiping',
  },
  {
    operation: 'machines.put_on_sale',
    title: 'Put it back on sale',
    button: 'Put on sale',
    when: ({ state }) => state === 'tested',
  },
  {
    operation: 'machines.remove',
    title: 'Remove it from the stock',
    button: 'Remove machine',
    isDangerous: true,
    to: () => CONSOLE_PATHS.machines,
    when: ({ state }) => state === 'free' || state === 'tested',
  },
];

export const MACHINES_ROOM: Room<MachineObject> = {
  section: 'machines',
  path: CONSOLE_PATHS.machines,
  title: 'Dedicated machines',
  many: 'machines',
  intro: 'Machines that no driver controls have their work due here: power, wipes, and deliveries.',
  list: 'machines.list',
  columns: [
    {
      name: 'Machine',
      value: ({ id }) => id,
      link: ({ id }) => `${CONSOLE_PATHS.machines}/${encodeURIComponent(id)}`,
    },
    STATE,
    ...FACTS,
  ],
  filters: [
    ['state', 'State'],
    ['region', 'Region'],
    ['plan', 'Plan'],
    ['due', 'Work due'],
  ],
  creates: [{ operation: 'machines.add', title: 'Add a machine', button: 'Add machine' }],
  item: {
    get: 'machines.get',
    id: ({ id }) => id,
    title: ({ id }) => id,
    state: STATE,
    details: [...FACTS, { name: 'Off since', value: (row) => row.off_since, as: 'time' }],
    links: ({ id }) => [['Staff log', `${CONSOLE_PATHS.log}?target=${encodeURIComponent(id)}`]],
    acts: ACTS,
  },
};

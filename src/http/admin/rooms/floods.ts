/** Floods of packets to and from servers. */
import type { Flood } from '../../../domain/servers/floods/read.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import type { Shown } from '../../../panel/staff/room.ts';
import { type Room, roomItemPath } from '../room.ts';

const FLOODS = { path: CONSOLE_PATHS.floods };

const DIRECTION_NAMES = { in: 'to the server', out: 'from the server' } as const;
const ADDRESS_NAMES = { ipv4: 'IPv4', ipv6: 'IPv6' } as const;

const STATE: Shown<Flood> = {
  name: 'State',
  value: ({ state }) => state,
  as: 'state',
  tones: { open: 'bad', blackholed: 'busy' },
};
const DIRECTION: Shown<Flood> = { name: 'Direction', value: (row) => DIRECTION_NAMES[row.direction] };
const ADDRESS: Shown<Flood> = { name: 'Address', value: ({ address }) => ADDRESS_NAMES[address] };
const SERVER: Shown<Flood> = {
  name: 'Server',
  value: ({ server, server_name: name }) => name ?? server,
  link: ({ server, server_name: name }) =>
    name === null ? null : `${CONSOLE_PATHS.servers}/${encodeURIComponent(server)}`,
};
const CUSTOMER: Shown<Flood> = { name: 'Customer', value: ({ customer }) => customer, as: 'customer' };
const HOST: Shown<Flood> = {
  name: 'Host',
  value: ({ host }) => host,
  link: ({ host }) => host && `${CONSOLE_PATHS.hosts}/${encodeURIComponent(host)}`,
};
const PACKETS: Shown<Flood> = {
  name: 'Most packets per second',
  value: (row) => row.peak_packets_per_s,
  as: 'number',
};
const BEGAN: Shown<Flood> = { name: 'Began', value: (row) => row.began_at, as: 'time' };

const DETAILS: readonly Shown<Flood>[] = [
  { name: 'Flood', value: ({ id }) => id, as: 'code' },
  DIRECTION,
  ADDRESS,
  { name: 'IP address', value: ({ ip }) => ip, as: 'code' },
  SERVER,
  HOST,
  CUSTOMER,
  PACKETS,
  {
    name: 'Most Mbit per second',
    value: (row) => Math.round(row.peak_bits_per_s / 1_000_000),
    as: 'number',
  },
  BEGAN,
  { name: 'Noticed', value: (row) => row.noticed_at, as: 'time' },
  { name: 'Last seen', value: (row) => row.last_seen_at, as: 'time' },
  { name: 'Ended', value: (row) => row.ended_at, as: 'time' },
  { name: 'How it ended', value: ({ ending }) => ending?.replace('_', ' ') },
  { name: 'Blackholes', value: ({ blackholes }) => blackholes, as: 'number' },
  { name: 'Blackholed', value: (row) => row.blackholed_at, as: 'time' },
  { name: 'Until', value: (row) => row.blackhole_until, as: 'time' },
  { name: 'Lifted', value: (row) => row.lifted_at, as: 'time' },
  { name: 'Lifted by', value: (row) => row.lifted_by && LIFTED_BY[row.lifted_by] },
];

const LIFTED_BY = { time: 'its end', staff: 'staff', addresses: 'other addresses' } as const;

function evidenceOf({ id, began_at: began, last_seen_at: last, peak_packets_per_s: packets }: Flood): string {
  return `We counted up to ${packets} packets per second from the server, from ${began} to ${last} (${id}).`;
}

export const FLOODS_ROOM: Room<Flood> = {
  section: 'floods',
  ...FLOODS,
  title: 'Floods',
  many: 'floods',
  intro: 'Servers that get or send more packets per second than the settings allow.',
  list: 'floods.list',
  filters: [
    ['state', 'State'],
    ['direction', 'Direction'],
    ['customer', 'Customer'],
    ['server', 'Server ID'],
  ],
  columns: [
    { ...DIRECTION, name: 'Flood', link: ({ id }) => roomItemPath(FLOODS, id) },
    STATE,
    ADDRESS,
    SERVER,
    CUSTOMER,
    HOST,
    { ...PACKETS, name: 'Packets/s' },
    BEGAN,
  ],
  item: {
    get: 'floods.get',
    id: ({ id }) => id,
    title: ({ direction, server_name: name }) => `Flood ${DIRECTION_NAMES[direction]} ${name ?? ''}`.trim(),
    state: STATE,
    details: DETAILS,
    links: ({ id, server }) => [
      ['Floods of the server', `${FLOODS.path}?server=${encodeURIComponent(server)}`],
      ['Reports about the server', `${CONSOLE_PATHS.abuse}?server=${encodeURIComponent(server)}`],
      ['Staff log', `${CONSOLE_PATHS.log}?target=${encodeURIComponent(id)}`],
    ],
    acts: [
      {
        operation: 'floods.blackhole',
        title: 'Blackhole the address',
        button: 'Blackhole',
        isDangerous: true,
        text: 'Its host drops all packets to and from the address. We mail the customer.',
        notice: 'blackholed',
        when: ({ state }) => state !== 'ended',
        values: ({ address }) => ({ address, minutes: 60 }),
      },
      {
        operation: 'floods.lift',
        title: 'Lift the blackhole',
        button: 'Lift blackhole',
        notice: 'lifted',
        when: (row) => row.server_blackholed,
      },
      {
        operation: 'abuse_reports.create',
        title: 'Record an abuse report',
        button: 'Record report',
        text: 'Then send it to the customer, who answers in a ticket.',
        when: ({ direction, ip }) => direction === 'out' && ip !== null,
        values: (row) => ({
          ...{ kind: 'ddos', address: row.ip, time: row.began_at, suspend_when_late: false },
          evidence: evidenceOf(row),
        }),
        to: ({ id }) => `${CONSOLE_PATHS.abuse}/${encodeURIComponent(String(id))}`,
      },
    ],
  },
};

/** Floods of packets: how they are noticed and end, and what staff do about them. */
import { act, HOSTS, read } from './roles.ts';

export const FLOOD_DIRECTIONS = ['in', 'out'] as const;
export type FloodDirection = (typeof FLOOD_DIRECTIONS)[number];

/** `blackholed`: packets to and from the address are dropped now. */
export const FLOOD_STATES = ['open', 'blackholed', 'ended'] as const;
export type FloodState = (typeof FLOOD_STATES)[number];

export type FloodEnding = 'stopped' | 'server_deleted';

/** Whose packets are dropped. */
export const BLACKHOLE_TARGETS = ['ipv4', 'ipv6', 'both'] as const;
export type BlackholeTarget = (typeof BLACKHOLE_TARGETS)[number];

export const FLOOD_LIMITS = {
  sampleEveryS: 10,
  /** A sample that comes later does not follow the previous one. */
  sampleGapS: 60,
  /** A flood ends after this long without a sample above the limit. Until then, it comes back at once. */
  quietMinutes: 5,
  /** Of an automatic blackhole, which is doubled each time, and of one by staff. */
  automaticMaxMinutes: 1_440,
  manualMaxMinutes: 10_080,
  /** From the end of a flood. */
  retentionDays: 180,
} as const;

export const FLOOD_OPERATIONS = {
  'floods.list': read('floods list', 'List floods of packets'),
  'floods.get': read('floods show', 'Show a flood'),
  'floods.blackhole': act('floods blackhole', 'Drop all packets of a flooded address', HOSTS),
  'floods.lift': act('floods lift', 'Lift the blackhole of a flooded server', HOSTS),
  'servers.blackhole': act('servers blackhole', 'Drop all packets of the addresses of a server', HOSTS),
  'servers.lift_blackhole': act('servers lift-blackhole', 'Lift the blackhole of a server', HOSTS),
} as const;

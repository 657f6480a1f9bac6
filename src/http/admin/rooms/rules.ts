/** Maintenance windows, policies, and switches. */
import type { PolicyObject, SwitchObject, WindowObject } from '../../../domain/staff/rules.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import type { Shown } from '../../../panel/staff/room.ts';
import { type Room, roomItemPath } from '../room.ts';

const logOf = (id: string): readonly [string, string] => [
  'Staff log',
  `${CONSOLE_PATHS.log}?target=${encodeURIComponent(id)}`,
];

const WINDOWS = { path: CONSOLE_PATHS.maintenance };

const REFUSES: Shown<WindowObject> = {
  name: 'Refuses',
  value: ({ operation }) => operation ?? 'every operation',
};

const WINDOW_FACTS: readonly Shown<WindowObject>[] = [
  { name: 'From', value: (row) => row.starts_at, as: 'time' },
  { name: 'Until', value: (row) => row.ends_at, as: 'time' },
  { name: 'Message', value: ({ message }) => message },
];

export const MAINTENANCE_ROOM: Room<WindowObject> = {
  section: 'maintenance',
  ...WINDOWS,
  title: 'Maintenance windows',
  many: 'open windows',
  intro: 'A window refuses requests until its time is up. Announce planned work under Incidents.',
  list: 'maintenance.list',
  links: [['Incidents', CONSOLE_PATHS.incidents]],
  columns: [{ ...REFUSES, link: ({ id }) => roomItemPath(WINDOWS, id) }, ...WINDOW_FACTS],
  creates: [
    {
      operation: 'maintenance.start',
      title: 'Start a window',
      button: 'Start window',
      isDangerous: true,
      text: 'Starts now, in every process. Servers keep running, and payments are credited.',
    },
    {
      operation: 'maintenance.end',
      title: 'End all windows',
      button: 'End all windows',
      to: () => CONSOLE_PATHS.maintenance,
    },
  ],
  item: {
    get: 'maintenance.get',
    id: ({ id }) => id,
    title: ({ operation }) => operation ?? 'Every operation',
    details: [{ name: 'Window', value: ({ id }) => id, as: 'code' }, REFUSES, ...WINDOW_FACTS],
    links: ({ id }) => [logOf(id)],
    acts: [
      {
        operation: 'maintenance.end_one',
        title: 'End the window',
        button: 'End window',
        text: 'Ends now, in every process. Other windows stay open.',
        to: () => CONSOLE_PATHS.maintenance,
      },
    ],
  },
};

const POLICIES = { path: CONSOLE_PATHS.policies };

const POLICY_FACTS: readonly Shown<PolicyObject>[] = [
  { name: 'Country', value: ({ country }) => country ?? 'any' },
  { name: 'Region', value: ({ region }) => region ?? 'any' },
  { name: 'Legal order', value: ({ order }) => order },
  { name: 'Since', value: (row) => row.created_at, as: 'time' },
];

export const POLICIES_ROOM: Room<PolicyObject> = {
  section: 'policies',
  ...POLICIES,
  title: 'Policies',
  many: 'policies',
  intro: 'Operations that we refuse because of a legal order.',
  list: 'policies.list',
  columns: [
    { name: 'Refuses', value: ({ operation }) => operation, link: ({ id }) => roomItemPath(POLICIES, id) },
    ...POLICY_FACTS,
  ],
  creates: [
    {
      operation: 'policies.block',
      title: 'Block an operation',
      button: 'Block operation',
      isDangerous: true,
      text: 'Takes effect at once. Existing resources are not affected.',
    },
  ],
  item: {
    get: 'policies.get',
    id: ({ id }) => id,
    title: ({ operation }) => operation,
    details: [{ name: 'Policy', value: ({ id }) => id, as: 'code' }, ...POLICY_FACTS],
    links: ({ id }) => [logOf(id)],
    acts: [
      {
        operation: 'policies.unblock',
        title: 'Unblock',
        button: 'Unblock operation',
        text: 'Deletes the policy.',
        to: () => CONSOLE_PATHS.policies,
      },
    ],
  },
};

const SWITCHES = { path: CONSOLE_PATHS.switches };

const STATE: Shown<SwitchObject> = {
  name: 'State',
  value: ({ state }) => state,
  as: 'state',
  tones: { on: 'good', off: 'bad' },
};

const SWITCH_FACTS: readonly Shown<SwitchObject>[] = [
  { name: 'Does', value: ({ about }) => about },
  { name: 'Message', value: ({ message }) => message },
  { name: 'Changed', value: (row) => row.changed_at, as: 'time' },
];

export const SWITCHES_ROOM: Room<SwitchObject> = {
  section: 'switches',
  ...SWITCHES,
  title: 'Switches',
  many: 'switches',
  intro: 'On is the normal state. Turning a switch on continues the work that waited.',
  list: 'switches.list',
  columns: [
    { name: 'Switch', value: ({ id }) => id, link: ({ id }) => roomItemPath(SWITCHES, id) },
    STATE,
    ...SWITCH_FACTS,
  ],
  item: {
    get: 'switches.get',
    id: ({ id }) => id,
    title: ({ id }) => id,
    state: STATE,
    details: SWITCH_FACTS,
    links: ({ id }) => [logOf(id)],
    acts: [
      {
        operation: 'switches.set',
        title: 'Turn on or off',
        button: 'Set switch',
        isDangerous: true,
        text: 'Takes effect at once, in every process.',
        values: ({ state }) => ({ state: state === 'on' ? 'off' : 'on' }),
      },
    ],
  },
};

import type { IncidentObject } from '../../../domain/staff/incidents.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import { type Shown, tableOf } from '../../../panel/staff/room.ts';
import { isOver } from '../../../spec/public-status.ts';
import { type Room, roomItemPath } from '../room.ts';
import type { RoomAct } from '../room-acts.ts';

const PLACE = { path: CONSOLE_PATHS.incidents };

const TONES = {
  investigating: 'bad',
  identified: 'busy',
  monitoring: 'busy',
  scheduled: 'busy',
  'in progress': 'busy',
  resolved: 'good',
  completed: 'good',
} as const;

const STATE: Shown<IncidentObject> = {
  name: 'State',
  value: ({ state }) => state,
  as: 'state',
  tones: TONES,
};

const FACTS: readonly Shown<IncidentObject>[] = [
  { name: 'Affected', value: ({ components }) => components.join(', ') || 'everything' },
  { name: 'From', value: (row) => row.starts_at, as: 'time' },
  { name: 'Until', value: (row) => row.resolved_at ?? row.ends_at, as: 'time' },
  { name: 'Updated', value: (row) => row.updated_at, as: 'time' },
];

const CREATES: readonly RoomAct<undefined>[] = [
  {
    operation: 'incidents.create',
    title: 'Publish an incident',
    button: 'Publish incident',
    text: 'It begins now. It is on the status page and in its feed at once.',
    notice: 'published',
  },
  {
    operation: 'incidents.announce',
    title: 'Announce planned maintenance',
    button: 'Announce maintenance',
    text: 'It shows as scheduled, in progress, and completed by the clock. It blocks no requests.',
    notice: 'published',
  },
];

const UPDATE = {
  operation: 'incidents.update',
  title: 'Post an update',
  button: 'Publish update',
  notice: 'published',
} as const;

const affected = ({ components }: IncidentObject) => components.join(' ');

const ACTS: readonly RoomAct<IncidentObject>[] = [
  {
    ...UPDATE,
    without: ['until'],
    values: (row) => ({ components: affected(row) }),
    when: ({ kind }) => kind === 'incident',
  },
  {
    ...UPDATE,
    without: ['state'],
    values: (row) => ({ components: affected(row), until: row.ends_at }),
    when: ({ kind }) => kind === 'maintenance',
  },
  {
    operation: 'incidents.resolve',
    title: 'Resolve',
    button: 'Resolve incident',
    values: () => ({ text: 'This is resolved.' }),
    notice: 'published',
    when: (row) => row.kind === 'incident' && !isOver(row),
  },
  {
    operation: 'incidents.resolve',
    title: 'End or cancel',
    button: 'End maintenance',
    text: 'Maintenance that did not begin is canceled.',
    notice: 'published',
    when: (row) => row.kind === 'maintenance' && !isOver(row),
  },
];

export const INCIDENTS_ROOM: Room<IncidentObject> = {
  section: 'incidents',
  ...PLACE,
  title: 'Incidents',
  many: 'incidents',
  intro: 'What customers read on the status page: incidents and planned maintenance.',
  list: 'incidents.list',
  columns: [
    { name: 'Title', value: ({ title }) => title, link: ({ id }) => roomItemPath(PLACE, id) },
    STATE,
    { name: 'Kind', value: ({ kind }) => kind },
    ...FACTS,
  ],
  filters: [['open', 'Going on or planned']],
  creates: CREATES,
  item: {
    get: 'incidents.get',
    id: ({ id }) => id,
    title: ({ title }) => title,
    state: STATE,
    details: [
      { name: 'Incident', value: ({ id }) => id, as: 'code' },
      { name: 'Kind', value: ({ kind }) => kind },
      ...FACTS,
    ],
    tables: [
      tableOf<IncidentObject, IncidentObject['updates'][number]>({
        title: 'Updates',
        rows: ({ updates }) => updates,
        empty: 'There are no updates.',
        columns: [
          { name: 'Published', value: (row) => row.created_at, as: 'time' },
          { name: 'State', value: ({ state }) => state, as: 'state', tones: TONES },
          { name: 'Text', value: ({ text }) => text },
        ],
      }),
    ],
    links: ({ id }) => [['Staff log', `${CONSOLE_PATHS.log}?target=${encodeURIComponent(id)}`]],
    acts: ACTS,
  },
};

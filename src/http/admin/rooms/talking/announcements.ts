import type { AnnouncementObject } from '../../../../domain/customers/talking/announcements.ts';
import { CONSOLE_PATHS } from '../../../../panel/staff/layout.ts';
import type { Shown } from '../../../../panel/staff/room.ts';
import { type Room, roomItemPath } from '../../room.ts';

const PLACE = { path: CONSOLE_PATHS.announcements };

const STATE: Shown<AnnouncementObject> = {
  name: 'State',
  value: ({ state }) => state,
  as: 'state',
  tones: { shown: 'good', planned: 'busy' },
};

const FACTS: readonly Shown<AnnouncementObject>[] = [
  { name: 'Level', value: ({ level }) => level },
  {
    name: 'Shown to',
    value: ({ audience, region }) => (region === null ? audience : `customers with a server in ${region}`),
  },
  { name: 'From', value: (row) => row.starts_at, as: 'time' },
  { name: 'Until', value: (row) => row.ends_at, as: 'time' },
];

const isOpen = ({ state }: AnnouncementObject) => state !== 'ended';

export const ANNOUNCEMENTS_ROOM: Room<AnnouncementObject> = {
  section: 'announcements',
  ...PLACE,
  title: 'Announcements',
  many: 'announcements',
  intro: 'Short texts above every page of the panel. Each customer can dismiss them.',
  list: 'announcements.list',
  columns: [
    { name: 'Title', value: ({ title }) => title, link: ({ id }) => roomItemPath(PLACE, id) },
    STATE,
    ...FACTS,
  ],
  creates: [
    {
      operation: 'announcements.create',
      title: 'Publish an announcement',
      button: 'Publish announcement',
      text: 'Disruptions belong on the status page: publish an incident.',
    },
  ],
  item: {
    get: 'announcements.get',
    id: ({ id }) => id,
    title: ({ title }) => title,
    state: STATE,
    details: [
      { name: 'Announcement', value: ({ id }) => id, as: 'code' },
      { name: 'Text', value: ({ text }) => text, as: 'lines' },
      { name: 'Link', value: ({ link }) => link },
      ...FACTS,
      { name: 'Created', value: (row) => row.created_at, as: 'time' },
    ],
    links: ({ id }) => [['Staff log', `${CONSOLE_PATHS.log}?target=${encodeURIComponent(id)}`]],
    acts: [
      {
        operation: 'announcements.change',
        title: 'Change',
        button: 'Save announcement',
        text: 'Customers who dismissed it do not see it again.',
        values: (row) => ({
          ...{ title: row.title, text: row.text, level: row.level, link: row.link, region: row.region },
          ...{ audience: row.audience, from: row.starts_at, until: row.ends_at },
        }),
        when: isOpen,
      },
      {
        operation: 'announcements.end',
        title: 'End',
        button: 'End announcement',
        text: 'No one sees it from now on.',
        when: isOpen,
      },
    ],
  },
};

import type { MailingObject, readMailing } from '../../../../domain/customers/talking/mailings.ts';
import { CONSOLE_PATHS } from '../../../../panel/staff/layout.ts';
import type { Shown } from '../../../../panel/staff/room.ts';
import { NEW_MAILING_PATH } from '../../pages/mailings.ts';
import { type Room, roomItemPath } from '../../room.ts';

type Mailing = Awaited<ReturnType<typeof readMailing>>;

const PLACE = { path: CONSOLE_PATHS.mailings };

const STATE: Shown<MailingObject> = {
  name: 'State',
  value: ({ state }) => state,
  as: 'state',
  tones: { running: 'busy', done: 'good', paused: 'bad' },
};

const PROGRESS: readonly Shown<MailingObject>[] = [
  { name: 'Recipients', value: ({ recipients }) => recipients, as: 'number' },
  { name: 'Sent', value: ({ sent }) => sent, as: 'number' },
  { name: 'Left', value: ({ left }) => left, as: 'number' },
  { name: 'Failed', value: ({ failed }) => failed, as: 'number' },
];

export const MAILINGS_ROOM: Room<Mailing> = {
  section: 'mailings',
  ...PLACE,
  title: 'Mailings',
  many: 'mailings',
  intro: 'Mail to all customers, or to those who meet criteria. Only one mailing sends at a time.',
  list: 'mailings.list',
  links: [['Write a mailing', NEW_MAILING_PATH]],
  columns: [
    { name: 'Subject', value: ({ subject }) => subject, link: ({ id }) => roomItemPath(PLACE, id) },
    STATE,
    { name: 'To', value: ({ to }) => to },
    ...PROGRESS,
    { name: 'Created', value: (row) => row.created_at, as: 'time' },
  ],
  item: {
    get: 'mailings.get',
    id: ({ id }) => id,
    title: ({ subject }) => subject,
    state: STATE,
    details: [
      { name: 'Mailing', value: ({ id }) => id, as: 'code' },
      { name: 'Kind', value: ({ kind }) => (kind === 'news' ? 'news' : 'service notice') },
      { name: 'To', value: ({ to }) => to },
      ...PROGRESS,
      { name: 'Left out', value: (row) => row.left_out, as: 'number' },
      { name: 'Created', value: (row) => row.created_at, as: 'time' },
      { name: 'Finished', value: (row) => row.finished_at, as: 'time' },
      { name: 'Mail', value: ({ mail }) => mail.text, as: 'lines' },
    ],
    links: ({ id }) => [['Staff log', `${CONSOLE_PATHS.log}?target=${encodeURIComponent(id)}`]],
    acts: [
      {
        operation: 'mailings.pause',
        title: 'Pause',
        button: 'Pause mailing',
        text: 'Mails that the mail server does not have yet wait until you continue.',
        when: ({ state }) => state === 'running',
      },
      {
        operation: 'mailings.resume',
        title: 'Continue',
        button: 'Continue mailing',
        when: ({ state }) => state === 'paused',
      },
      {
        operation: 'mailings.stop',
        title: 'Stop',
        button: 'Stop mailing',
        text: 'Customers who were not mailed are left out. A stopped mailing cannot continue.',
        isDangerous: true,
        when: ({ state }) => state === 'running' || state === 'paused',
      },
    ],
  },
};

import type { WorkObject } from '../../../domain/staff/work/read.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import type { Shown } from '../../../panel/staff/room.ts';
import type { Room } from '../room.ts';

const STATE: Shown<WorkObject> = {
  name: 'State',
  value: ({ state, running }) => state?.replace('_', ' ') ?? (running ? 'running' : 'waiting'),
  as: 'state',
  tones: { failing: 'bad', late: 'bad', 'given up': 'bad', undelivered: 'bad', running: 'busy' },
};

const QUEUE: Shown<WorkObject> = { name: 'Queue', value: ({ queue }) => queue };
const PROGRESS: readonly Shown<WorkObject>[] = [
  { name: 'Attempts failed', value: ({ attempts }) => attempts, as: 'number' },
  { name: 'Since', value: ({ since }) => since, as: 'time' },
];

export const WORK_ROOM: Room<WorkObject> = {
  section: 'work',
  path: CONSOLE_PATHS.work,
  title: 'Stuck work',
  many: 'pieces of stuck work',
  intro: 'Work of all queues that fails, is late, or was given up.',
  list: 'work.list',
  columns: [
    {
      name: 'Work',
      value: ({ kind }) => kind.replaceAll('_', ' '),
      link: ({ id }) => `${CONSOLE_PATHS.work}/${encodeURIComponent(id)}`,
    },
    QUEUE,
    STATE,
    { name: 'Subject', value: ({ subject }) => subject },
    ...PROGRESS,
  ],
  filters: [
    ['queue', 'Queue'],
    ['state', 'State'],
  ],
  item: {
    get: 'work.get',
    id: ({ id }) => id,
    title: ({ kind, subject }) => `${kind.replaceAll('_', ' ')} of ${subject}`,
    state: STATE,
    details: [
      QUEUE,
      { name: 'Subject', value: ({ subject }) => subject, as: 'code' },
      ...PROGRESS,
      { name: 'Next try', value: (row) => row.next_try_at, as: 'time' },
      { name: 'Last fault', value: (row) => row.last_fault },
    ],
    acts: [
      {
        operation: 'work.retry',
        title: 'Try again now',
        button: 'Try again',
        text: 'Tries without waiting for the next time. Work that was given up is tried again.',
        notice: 'begun',
        to: () => CONSOLE_PATHS.work,
      },
      {
        operation: 'work.give_up',
        title: 'Give up',
        button: 'Give up',
        isDangerous: true,
        text:
          'Stops trying. Work on a server ends as failed, and a mail is dropped. Other work waits until ' +
          'you try it again or it is requested again. Its customer still sees it as in progress.',
        notice: 'begun',
        to: () => CONSOLE_PATHS.work,
      },
    ],
  },
};

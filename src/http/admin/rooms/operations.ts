import type { OperationDetails, OperationObject } from '../../../domain/staff/operations.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import { type Shown, tableOf } from '../../../panel/staff/room.ts';
import type { Room } from '../room.ts';

const STATE: Shown<OperationObject> = {
  name: 'State',
  value: ({ stuck, attempts, running }) => {
    if (stuck) return 'stuck';
    if (attempts > 0) return 'failing';
    return running ? 'running' : 'waiting';
  },
  as: 'state',
  tones: { stuck: 'bad', failing: 'bad', running: 'busy' },
};

const KIND: Shown<OperationObject> = { name: 'Work', value: ({ kind }) => kind.replaceAll('_', ' ') };
const SERVER: Shown<OperationObject> = {
  name: 'Server',
  value: (row) => row.server_name,
  link: ({ id }) => `${CONSOLE_PATHS.servers}/${encodeURIComponent(id)}`,
};

const FACTS: readonly Shown<OperationObject>[] = [
  { name: 'Customer', value: ({ customer }) => customer, as: 'customer' },
  { name: 'Host', value: ({ host }) => host },
  { name: 'Step', value: ({ step }) => step.replaceAll('_', ' ') },
  { name: 'Attempts failed', value: ({ attempts }) => attempts, as: 'number' },
  { name: 'Began', value: (row) => row.started_at, as: 'time' },
  { name: 'Next try', value: (row) => row.next_try_at, as: 'time' },
];

export const OPERATIONS_ROOM: Room<OperationDetails> = {
  section: 'operations',
  path: CONSOLE_PATHS.operations,
  title: 'Operations',
  many: 'operations',
  intro: 'The work that is under way on servers. Stuck work runs for more than 30 minutes.',
  list: 'operations.list',
  columns: [
    { ...KIND, link: ({ id }) => `${CONSOLE_PATHS.operations}/${encodeURIComponent(id)}` },
    STATE,
    SERVER,
    ...FACTS,
  ],
  filters: [
    ['state', 'State'],
    ['kind', 'Work'],
    ['host', 'Host'],
  ],
  item: {
    get: 'operations.get',
    id: ({ id }) => id,
    title: ({ kind, server_name: name }) => `${kind.replaceAll('_', ' ')} of ${name}`,
    state: STATE,
    details: [
      SERVER,
      ...FACTS,
      { name: 'Last fault', value: (row) => row.last_fault },
      { name: 'Request', value: (row) => row.request_id, as: 'code' },
    ],
    tables: [
      tableOf<OperationDetails, OperationDetails['steps'][number]>({
        title: 'Steps',
        rows: ({ steps }) => steps,
        empty: 'The customer sees no steps of this work.',
        columns: [
          { name: 'Step', value: ({ name }) => name.replaceAll('_', ' ') },
          {
            name: 'State',
            value: ({ status }) => status,
            as: 'state',
            tones: { success: 'good', running: 'busy', error: 'bad' },
          },
          { name: 'Began', value: (row) => row.started_at, as: 'time' },
          { name: 'Ended', value: (row) => row.finished_at, as: 'time' },
        ],
      }),
    ],
    acts: [
      {
        operation: 'operations.retry',
        title: 'Try again now',
        button: 'Try again',
        text: 'Repeats the current step without waiting for the next try.',
        notice: 'begun',
        to: serverOf,
      },
      {
        operation: 'operations.give_up',
        title: 'Give up',
        button: 'Give up',
        isDangerous: true,
        text:
          'Ends the work as failed. A new server is refunded in full and deleted. A rebuild or resize goes ' +
          'back. Other work ends with an error that the customer sees.',
        notice: 'begun',
        to: serverOf,
      },
    ],
  },
};

/** The operation may have ended. */
function serverOf(_answer: object, { id = '' }: Readonly<Record<string, string>>): string {
  return `${CONSOLE_PATHS.servers}/${encodeURIComponent(id)}`;
}

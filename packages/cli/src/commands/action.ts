/** Actions: what takes time, how far it is, and why it failed. */
import type { Action } from '@skerry/sdk';
import { type Command, command } from '../command.ts';
import { FIND_SERVER, findServer } from '../find.ts';
import { listCommand, omitUndefined } from '../lists.ts';
import { arg, integer, text } from '../options.ts';
import { type Column, fields, hidden, times } from '../output/format.ts';
import { describeCommand } from '../resources.ts';

const COLUMNS: readonly Column<Action>[] = [
  ...fields<Action>('id', 'command', 'status'),
  { name: 'progress', value: ({ progress }) => `${progress}%` },
  { name: 'resource', value: ({ resources }) => resources[0]?.id },
  { name: 'error', value: ({ error }) => error?.code },
  ...times<Action>('created_at'),
];

const DETAILS: readonly Column<Action>[] = [
  ...COLUMNS,
  ...hidden<Action>([
    { name: 'message', value: ({ error }) => error?.message },
    { name: 'steps', value: ({ steps }) => steps.map(({ name, status }) => `${name}: ${status}`) },
    ...times<Action>('finished_at'),
    ...fields<Action>('request_id'),
  ]),
];

const STATUSES = ['running', 'success', 'error'] as const;
const FILTERS = {
  status: text('status', 'Filter by status', { choices: STATUSES }),
  command: text('command', 'Filter by command, such as server.rebuild'),
};

const list = listCommand({
  name: 'action list',
  about: 'List what takes time, of the last 90 days',
  operations: ['actions.list'],
  options: { ...FILTERS, resource: text('id', 'Filter by the ID of a resource, which may be deleted') },
  columns: COLUMNS,
  example: 'skerry action list --status error',
  list: (skerry, query) => skerry.actions.list(query),
});

const describe = describeCommand(
  {
    word: 'action',
    about: 'ID of the action; see `skerry action list`',
    find: (skerry, id) => skerry.actions.get(id),
    calls: ['actions.get'],
  },
  {
    about: 'Show an action with its steps and the cause of a failure',
    columns: DETAILS,
    example: 'skerry action get act_aaaqk3m7qzb5x2l6v4t7n8wyja',
  },
);

const LIMIT = 20;

const ofServer = command({
  name: 'server actions',
  about: 'List what was done to a server, the latest first',
  operations: ['actions.of_server', ...FIND_SERVER],
  args: { server: arg('Name or ID', { completionKind: 'server' }) },
  options: {
    ...FILTERS,
    limit: integer('number', `Maximum number of results (default: ${LIMIT})`, { min: 1, max: 1_000 }),
  },
  columns: COLUMNS,
  example: 'skerry server actions web-1',
  run: async ({ skerry, output }, { server, limit = LIMIT, ...given }) => {
    const { id } = await findServer(skerry, server);
    const query = { filter: omitUndefined(given) } as Parameters<typeof skerry.actions.ofServer>[1];
    output.list(await skerry.actions.ofServer(id, query).all(limit), COLUMNS);
  },
});

export const ACTION_COMMANDS: readonly Command[] = [list, describe, ofServer];

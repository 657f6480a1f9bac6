/** Action (`act_`): work that takes time, with its steps and the cause of a failure. */
import { type Static, Type } from 'typebox';
import {
  ACTION_ERROR_CODES,
  ACTION_RESOURCES,
  ACTION_STATUSES,
  ACTION_STEP_STATUSES,
  type ActionCommand,
} from '../action-commands.ts';
import { Id, nullable, oneOf, Time } from './parts.ts';

const Progress = Type.Integer({ minimum: 0, maximum: 100, description: 'Percent.' });

/** Not a closed list in the document: later versions have more. */
const Command = Type.Unsafe<ActionCommand>({
  type: 'string',
  description: 'What is done.',
  examples: ['server.rebuild'],
});

const ActionStep = Type.Object({
  name: Type.String({ examples: ['disk'] }),
  status: oneOf(ACTION_STEP_STATUSES),
  started_at: nullable(Time),
  finished_at: nullable(Time),
});

const ActionError = Type.Object({
  code: oneOf(ACTION_ERROR_CODES),
  message: Type.String({ description: 'The cause, and whether money went back to the balance.' }),
});

export const Action = Type.Object({
  id: Id('act_'),
  object: Type.Literal('action'),
  command: Command,
  status: oneOf(ACTION_STATUSES, {
    description: 'Ends once. `success` of a create: the server is reachable on the network.',
  }),
  progress: Progress,
  steps: Type.Array(ActionStep, { description: 'In order.' }),
  resources: Type.Array(Type.Object({ type: oneOf(ACTION_RESOURCES), id: Type.String() }), {
    description: 'The resource that the command names, then others that it concerns.',
  }),
  error: nullable(ActionError),
  request_id: Type.String({ description: 'The X-Request-Id of the response that began it.' }),
  created_at: Time,
  finished_at: nullable(Time),
});
export type Action = Static<typeof Action>;

/** `action` of a resource. */
export const ActionSummary = Type.Object(
  {
    id: Type.String({ examples: ['act_aaaqk3m7qzb5x2l6v4t7n8wyja'] }),
    command: Type.Unsafe<ActionCommand>({ type: 'string', examples: ['server.create'] }),
    status: oneOf(ACTION_STATUSES),
    progress: Type.Integer(),
  },
  { description: 'What runs on it. In the response that began it, it may have ended.' },
);
export type ActionSummary = Static<typeof ActionSummary>;

/** Actions: work that takes time. */
import { getAction, listActions, listServerActions } from '../../../domain/actions/read.ts';
import { ACTION_COMMANDS, ACTION_STATUSES } from '../../../spec/action-commands.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { BY_AGE } from '../../../spec/lists.ts';
import { Action } from '../../../spec/schemas/action.ts';
import { listRoute, type Route, route } from '../route.ts';

const FILTERS = {
  status: { allowed: ACTION_STATUSES },
  command: { allowed: ACTION_COMMANDS },
} as const;

export const ACTION_ROUTES: readonly Route[] = [
  listRoute({
    id: 'actions.list',
    path: '/actions',
    scope: 'read',
    summary: 'List actions',
    description: `We keep an action for ${LIMITS.actionRetentionDays} days, also if its resource is deleted.`,
    list: {
      ...BY_AGE,
      filters: {
        ...FILTERS,
        resource: { about: 'Id of the resource that the command names, such as `vol_…` of `volume.attach`.' },
      },
    },
    reply: Action,
    run: ({ service, actor, page }) => listActions(service, actor, page),
  }),
  route({
    id: 'actions.get',
    method: 'GET',
    path: '/actions/{id}',
    scope: 'read',
    summary: 'Retrieve an action',
    description:
      'Instead of polling, open the event stream with `types=action.success,action.error`, and then read ' +
      'the action once.',
    reply: Action,
    run: ({ service, actor, params }) => getAction(service, actor, params.id),
  }),
  listRoute({
    id: 'actions.of_server',
    path: '/servers/{id}/actions',
    scope: 'read',
    summary: 'List the actions of a server',
    list: { ...BY_AGE, filters: FILTERS },
    reply: Action,
    run: ({ service, actor, params, page }) => listServerActions(service, actor, params.id, page),
  }),
];

/** The console of a server. */
import { openConsole } from '../../domain/servers/console.ts';
import { Console } from '../../spec/schemas/server-actions.ts';
import { scopeCovers } from '../../spec/scopes.ts';
import { type Route, route } from './route.ts';

export const CONSOLE_ROUTES: readonly Route[] = [
  route({
    id: 'servers.console',
    method: 'GET',
    path: '/servers/{id}/console',
    scope: 'read',
    summary: 'Open the console of a server',
    description:
      'Returns the URL of a page that shows the screen of a running server. It works once, within five ' +
      'minutes. A token of scope `read` can only watch; `write` and above can also type.',
    status: 200,
    errorStatuses: [404, 409, 422],
    reply: Console,
    run: ({ service, actor, params, baseUrl }) => {
      const readOnly = !scopeCovers(actor.scope, 'write');
      return openConsole(service, actor, params.id, { readOnly, baseUrl });
    },
  }),
];

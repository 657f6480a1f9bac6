/** The settings of a server: name, tags, labels, renewal, and deletion. */
import { settingsView } from '../../panel/servers/settings.ts';
import { serverPagePath } from '../../spec/paths.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { checkTypedName } from './confirm-name.ts';
import { bodyReader, isChecked, lines, pairs, text } from './field-readers.ts';
import { page, restForm } from './page-types.ts';
import { loadServer, redirectToServer, SERVER_PATH } from './server.ts';

export const SERVER_SETTINGS_PAGE = page({
  path: `${SERVER_PATH}/settings`,
  access: 'customer',
  render: async (context) => settingsView({ ...(await loadServer(context)), forms: context.forms }),
  forms: {
    change: restForm<Server>({
      operation: 'servers.update',
      body: bodyReader({ name: text, tags: lines, labels: pairs, auto_renew: isChecked }),
      done: (server) => ({ to: serverPagePath(server.id, 'settings'), notice: 'saved' }),
    }),
    destroy: restForm({
      operation: 'servers.delete',
      validate: (call, { id }) => checkTypedName(call, id),
      done: redirectToServer('server_destroying'),
    }),
  },
});

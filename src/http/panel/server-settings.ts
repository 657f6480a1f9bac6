/** A server's name, tags, labels and renewal, and its end. */
import { settingsView } from '../../panel/server-settings.ts';
import { serverPartPath } from '../../spec/paths.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { body, lines, pairs, text, ticked } from './fields.ts';
import { nameTyped } from './name-typed.ts';
import { type PanelPage, restForm } from './page.ts';
import { lookedAt, SERVER_PATH, toServer } from './server.ts';

export const SERVER_SETTINGS_PAGE: PanelPage = {
  path: `${SERVER_PATH}/settings`,
  access: 'customer',
  show: async (look) => settingsView({ ...(await lookedAt(look)), forms: look.forms }),
  forms: {
    change: restForm<Server>({
      does: 'servers.update',
      body: body({ name: text, tags: lines, labels: pairs, auto_renew: ticked }),
      done: (server) => ({ to: serverPartPath(server.id, 'settings'), notice: 'saved' }),
    }),
    destroy: restForm({
      does: 'servers.delete',
      first: (call, { id = '' }) => nameTyped(call, id),
      done: toServer('server_destroying'),
    }),
  },
};

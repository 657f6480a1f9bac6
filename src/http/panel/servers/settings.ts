/** The settings of a server, and its network: reverse DNS and firewall. */

import { listGroups } from '../../../domain/firewall/read.ts';
import { networkView } from '../../../panel/servers/network.ts';
import { settingsView } from '../../../panel/servers/settings.ts';
import { serverPagePath } from '../../../spec/paths.ts';
import type { Server } from '../../../spec/schemas/server.ts';
import { readAllPages } from '../choices.ts';
import { bodyReader, isChecked, lines, pairs, readProtection, text, textOrNull } from '../field-readers.ts';
import { type FormResult, page, restForm } from '../page-types.ts';
import { checkTypedName, loadServer, redirectToServer, SERVER_PATH } from './overview.ts';

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
    protect: restForm<Server>({
      operation: 'servers.update',
      body: readProtection('delete', 'rebuild'),
      done: (server) => ({ to: serverPagePath(server.id, 'settings'), notice: 'saved' }),
    }),
    destroy: restForm({
      operation: 'servers.delete',
      validate: (call, { id }) => checkTypedName(call, id),
      done: redirectToServer('server_destroying'),
    }),
  },
});

const redirectToNetwork = (server: Server): FormResult => ({
  to: serverPagePath(server.id, 'network'),
  notice: 'saved',
});

export const SERVER_NETWORK_PAGE = page({
  path: `${SERVER_PATH}/network`,
  access: 'customer',
  render: async (context) => {
    const [page, groups] = await Promise.all([
      loadServer(context),
      readAllPages({ sort: 'created_at' }, (each) => listGroups(context.service, context.customer(), each)),
    ]);
    const applied = groups.filter(({ applied_to }) => applied_to.includes(page.server.id));
    return networkView({ ...page, groups: applied, forms: context.forms });
  },
  forms: {
    names: restForm({
      operation: 'servers.set_rdns',
      body: bodyReader({ ipv4: textOrNull, ipv6: textOrNull }),
      done: redirectToNetwork,
    }),
    add_name: restForm({
      operation: 'servers.set_rdns',
      body: bodyReader({ address: text, ipv6: text }),
      done: redirectToNetwork,
    }),
    remove_name: restForm({
      operation: 'servers.set_rdns',
      body: bodyReader({ address: text, ipv6: () => null }),
      done: redirectToNetwork,
    }),
  },
});

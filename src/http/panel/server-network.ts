/** The reverse DNS and the firewall of a server. */
import { listGroups } from '../../domain/firewall/read.ts';
import { networkView } from '../../panel/servers/network.ts';
import { serverPagePath } from '../../spec/paths.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { bodyReader, text, textOrNull } from './field-readers.ts';
import { type FormResult, page, restForm } from './page-types.ts';
import { readAllPages } from './read-all-pages.ts';
import { loadServer, SERVER_PATH } from './server.ts';

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

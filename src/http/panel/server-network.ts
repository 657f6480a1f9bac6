/** Reverse DNS of a server, and its firewall. */
import { listGroups } from '../../domain/firewall/find.ts';
import { networkView } from '../../panel/server-network.ts';
import { serverPartPath } from '../../spec/paths.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { every } from './every.ts';
import { body, text, textOrNull } from './fields.ts';
import { type Done, type PanelPage, restForm } from './page.ts';
import { lookedAt, SERVER_PATH } from './server.ts';

const back = (server: Server): Done => ({ to: serverPartPath(server.id, 'network'), notice: 'saved' });

export const SERVER_NETWORK_PAGE: PanelPage = {
  path: `${SERVER_PATH}/network`,
  access: 'customer',
  show: async (look) => {
    const [page, groups] = await Promise.all([
      lookedAt(look),
      every({ sort: 'created_at' }, (each) => listGroups(look.service, look.customer(), each)),
    ]);
    const applied = groups.filter(({ applied_to }) => applied_to.includes(page.server.id));
    return networkView({ ...page, groups: applied, forms: look.forms });
  },
  forms: {
    names: restForm({
      does: 'servers.set_rdns',
      body: body({ ipv4: textOrNull, ipv6: textOrNull }),
      done: back,
    }),
    add_name: restForm({ does: 'servers.set_rdns', body: body({ address: text, ipv6: text }), done: back }),
    remove_name: restForm({
      does: 'servers.set_rdns',
      body: body({ address: text, ipv6: () => null }),
      done: back,
    }),
  },
};

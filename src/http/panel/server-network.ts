/** Reverse DNS of a server, and its firewall. */
import { listGroups } from '../../domain/firewall/find.ts';
import { networkView } from '../../panel/server-network.ts';
import { LIMITS } from '../../spec/limits.ts';
import { serverPartPath } from '../../spec/paths.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { body, text, textOrNull } from './fields.ts';
import { type Done, type PanelPage, restForm } from './page.ts';
import { lookedAt, SERVER_PATH } from './server.ts';

/** Far above the quota of groups, in the order in which they were made. */
const ALL_GROUPS = {
  ...{ filter: {}, sort: 'created_at', descending: false, after: null, size: LIMITS.pageSizeMax },
};

const back = (server: Server): Done => ({ to: serverPartPath(server.id, 'network'), notice: 'saved' });

export const SERVER_NETWORK_PAGE: PanelPage = {
  path: `${SERVER_PATH}/network`,
  access: 'customer',
  show: async (look) => {
    const [page, groups] = await Promise.all([
      lookedAt(look),
      listGroups(look.service, look.customer(), ALL_GROUPS),
    ]);
    const applied = groups.items.filter(({ applied_to }) => applied_to.includes(page.server.id));
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

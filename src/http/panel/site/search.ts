/** The search over the customer's resources and the panel's pages. */
import { type FoundResource, findResources } from '../../../domain/customers/search.ts';
import { cleanQuery, QUERY_FIELD } from '../../../panel/parts/search-form.ts';
import { type FoundItem, searchView } from '../../../panel/site/search.ts';
import { BILLING_PATHS, PANEL_PATHS, resourcePath, serverPagePath } from '../../../spec/paths.ts';
import { field } from '../../form.ts';
import type { PanelPage } from '../page-types.ts';

type Kind = FoundResource['kind'];

const LISTS: Readonly<Record<Exclude<Kind, 'server'>, readonly [name: string, list: string]>> = {
  volume: ['Volume', PANEL_PATHS.volumes],
  snapshot: ['Snapshot', PANEL_PATHS.snapshots],
  customImage: ['Image', PANEL_PATHS.images],
  sshKey: ['SSH key', PANEL_PATHS.keys],
  firewallGroup: ['Firewall group', PANEL_PATHS.firewall],
  webhook: ['Webhook', PANEL_PATHS.webhooks],
  alert: ['Alert', PANEL_PATHS.alerts],
  topup: ['Top-up', BILLING_PATHS.topups],
};

export const SEARCH_PAGE: PanelPage = {
  path: PANEL_PATHS.search,
  access: 'customer',
  render: async (context) => {
    const query = cleanQuery(field(context.query, QUERY_FIELD));
    const found = await findResources(context.service, context.customer(), query);
    return searchView(query, found.map(toItem));
  },
};

function toItem({ kind, id, name, detail }: FoundResource): FoundItem {
  if (kind === 'server') return { kind: 'Server', path: serverPagePath(id), name, detail };
  const [word, list] = LISTS[kind];
  return { kind: word, path: resourcePath(list, id), name, detail };
}

/** The search over the customer's resources and the panel's pages. */

import { setShortcuts } from '../../../domain/customers/preferences.ts';
import { type FoundResource, findResources } from '../../../domain/customers/search.ts';
import { cleanQuery, namesAddress, QUERY_FIELD } from '../../../panel/parts/search-form.ts';
import { type FoundItem, searchView } from '../../../panel/site/search.ts';
import { BILLING_PATHS, PANEL_PATHS, resourcePath, serverPagePath } from '../../../spec/paths.ts';
import { field } from '../../form.ts';
import { type CustomForm, customForm, type PanelPage } from '../page-types.ts';
import { identifyRequest } from '../visitor.ts';

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

/** Words get a URL that can be shared. An address gets none: its server, or the results on this page. */
const findForm: CustomForm = {
  audit: null,
  skipIdempotency: true,
  run: async ({ edge, form, customer }) => {
    const query = cleanQuery(field(form, QUERY_FIELD));
    if (!namesAddress(query)) return { to: searchPath(query) };
    const found = await findResources(edge.service, customer(), query);
    const [only] = found;
    if (found.length === 1 && only) return { to: toItem(only).path };
    return { shown: { query } };
  },
};

const shortcutsForm = customForm({
  audit: 'customer.set_shortcuts',
  run: async ({ edge, form, customer }) => {
    await setShortcuts(edge.service, customer(), { on: field(form, 'shortcuts') === 'on' });
    return {};
  },
  done: () => ({ to: `${PANEL_PATHS.search}#shortcuts`, notice: 'saved' }),
});

function searchPath(query: string): string {
  const search = new URLSearchParams({ [QUERY_FIELD]: query });
  return query === '' ? PANEL_PATHS.search : `${PANEL_PATHS.search}?${search}`;
}

export const SEARCH_PAGE: PanelPage = {
  path: PANEL_PATHS.search,
  access: 'customer',
  render: async (context) => {
    const { shown, query: asked, forms, service } = context;
    const typed = shown?.texts.query ?? field(forms.refused ? forms.values : asked, QUERY_FIELD);
    const query = cleanQuery(typed);
    const found = await findResources(service, context.customer(), query);
    const { session } = await identifyRequest(context.edge, context.request);
    return searchView({ query, found: found.map(toItem), shortcuts: session?.shortcuts ?? true, forms });
  },
  forms: { find: findForm, shortcuts: shortcutsForm },
};

function toItem({ kind, id, name, detail }: FoundResource): FoundItem {
  if (kind === 'server') return { kind: 'Server', path: serverPagePath(id), name, detail };
  const [word, list] = LISTS[kind];
  return { kind: word, path: resourcePath(list, id), name, detail };
}

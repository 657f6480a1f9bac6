/** The pages of actions, and the latest ones on the page of a resource. */
import { getAction, listActions } from '../../../domain/actions/read.ts';
import { actionListView, actionView } from '../../../panel/servers/actions.ts';
import { PANEL_PATHS } from '../../../spec/paths.ts';
import type { Action } from '../../../spec/schemas/action.ts';
import { readList } from '../list.ts';
import { type PageContext, type PanelPage, page } from '../page-types.ts';

const PAGE_ROWS = 50;
const LATEST_ROWS = 5;

export const ACTION_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.actions,
    access: 'customer',
    readOperations: ['actions.list'],
    render: async (context) => {
      const list = await readList(
        context,
        'actions.list',
        (request) => listActions(context.service, context.customer(), request),
        { size: PAGE_ROWS },
      );
      const { items: actions, filter, first, next } = list;
      return actionListView({ actions, filter, first, next, forms: context.forms });
    },
  },
  page({
    path: `${PANEL_PATHS.actions}/{id}`,
    access: 'customer',
    readOperations: ['actions.get'],
    render: async ({ service, customer, params }) =>
      actionView(await getAction(service, customer(), params.id)),
  }),
];

/** The latest actions of a resource, which the caller has found to be the customer's. */
export async function readLatestActions(
  { service, customer }: PageContext,
  resource: string,
): Promise<readonly Action[]> {
  const request = {
    filter: { resource },
    sort: 'created_at',
    descending: true,
    after: null,
    size: LATEST_ROWS,
  };
  return (await listActions(service, customer(), request)).items;
}

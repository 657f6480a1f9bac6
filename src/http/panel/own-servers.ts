/** What forms offer to choose from. */
import { listRegions } from '../../domain/catalogue/regions.ts';
import { listServers } from '../../domain/servers/list.ts';
import type { Region } from '../../spec/schemas/region.ts';
import type { Server } from '../../spec/schemas/server.ts';
import type { PageContext } from './page-types.ts';
import { readAllPages } from './read-all-pages.ts';

/** Every server of the customer, by name; those that `filter` lets through, as the list of servers takes it. */
export async function listOwnServers(
  context: PageContext,
  filter: Readonly<Record<string, string>> = {},
): Promise<readonly Server[]> {
  return await readAllPages({ sort: 'name', filter }, (page) =>
    listServers(context.service, context.customer(), page),
  );
}

export async function listAllRegions({ service }: PageContext): Promise<readonly Region[]> {
  return await readAllPages({ sort: 'id' }, (page) => listRegions(service, page));
}

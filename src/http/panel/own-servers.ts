/** Lists that forms offer as choices. */
import { listRegions } from '../../domain/catalogue/offers.ts';
import { listServers } from '../../domain/servers/read.ts';
import type { Region } from '../../spec/schemas/plan.ts';
import type { Server } from '../../spec/schemas/server.ts';
import type { PageContext } from './page-types.ts';
import { readAllPages } from './read-all-pages.ts';

/** Returns all of the customer's servers by name, filtered as in the REST list of servers. */
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

/** What forms offer to choose from. */
import { listRegions } from '../../domain/catalogue/regions.ts';
import { listServers } from '../../domain/servers/list.ts';
import type { Region } from '../../spec/schemas/region.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { every } from './every.ts';
import type { Look } from './page.ts';

/** Every server of the customer, by name; those that `filter` lets through, as the list of servers takes it. */
export async function ownServers(
  look: Look,
  filter: Readonly<Record<string, string>> = {},
): Promise<readonly Server[]> {
  return await every({ sort: 'name', filter }, (page) => listServers(look.service, look.customer(), page));
}

export async function allRegions({ service }: Look): Promise<readonly Region[]> {
  return await every({ sort: 'id' }, (page) => listRegions(service, page));
}

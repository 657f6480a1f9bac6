import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { pageServers } from '../../store/servers.ts';
import type { CustomerActor, Service } from '../context.ts';
import { serverObject } from './object.ts';

/**
 * One page of the customer's own servers. It is the one list on the pipelined connections, which are for short reads: it is asked
 * most, `npm run bench` holds it to a figure, and what one statement takes is bounded by its page.
 */
export async function listServers(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<{ items: Server[]; next: PagePosition | null }> {
  const { rows, next } = await pageServers(service.reads, actor.customerId, page);
  return { items: rows.map(serverObject), next };
}

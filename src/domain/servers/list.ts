import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { pageServers } from '../../store/servers/servers.ts';
import type { CustomerActor, Service } from '../context.ts';
import { serverObject } from './object.ts';

/**
 * Returns one page of the customer's own servers. It is the only list on the pipelined connections, which are
 * meant for short reads: it is the most frequent list, `npm run bench` measures it, and its page size bounds
 * the statement.
 */
export async function listServers(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<{ items: Server[]; next: PagePosition | null }> {
  const { rows, next } = await pageServers(service.reads, actor.customerId, page);
  return { items: rows.map(serverObject), next };
}

/** The IPv4 addresses of the server list as plain text, one per line: of selected servers, or of all. */
import type { FastifyInstance } from 'fastify';
import type { CustomerActor, Service } from '../../../domain/context.ts';
import { getServer, listServers } from '../../../domain/servers/read.ts';
import { Failure } from '../../../kernel/fail.ts';
import { SELECTED_ONLY } from '../../../panel/servers/bulk.ts';
import { SERVER_SORTS } from '../../../panel/servers/list-table.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { SERVER_ADDRESSES_PATH } from '../../../spec/paths.ts';
import type { Server } from '../../../spec/schemas/server.ts';
import { type Form, parseQuery } from '../../form.ts';
import type { Edge } from '../../settings.ts';
import { buildPageRequest } from '../list.ts';
import { registerOwnText } from '../pipeline.ts';
import { readSelection } from './list-state.ts';

export function registerServerAddresses(scope: FastifyInstance, edge: Edge): void {
  registerOwnText(scope, edge, SERVER_ADDRESSES_PATH, async (owner, request) => {
    const query = parseQuery(request.url);
    const ids = readSelection(query);
    const isSelection = ids.length > 0 || query.has(SELECTED_ONLY);
    const servers = isSelection
      ? await readSelected(edge.service, owner, ids)
      : await readListed(edge.service, owner, query);
    const lines = servers.flatMap(({ ipv4 }) => (ipv4 ? `${ipv4.address}\n` : []));
    if (lines.length > 0) return lines.join('');
    return isSelection && ids.length === 0 ? 'No server is selected.\n' : 'No addresses.\n';
  });
}

async function readSelected(
  service: Service,
  owner: CustomerActor,
  ids: readonly string[],
): Promise<readonly Server[]> {
  const found = ids.map(async (id) => {
    try {
      return [await getServer(service, owner, id)];
    } catch (error) {
      if (error instanceof Failure && error.code === 'not_found') return [];
      throw error;
    }
  });
  return (await Promise.all(found)).flat();
}

/** Reads the list in its order, page by page, up to the bound. */
async function readListed(service: Service, owner: CustomerActor, query: Form): Promise<readonly Server[]> {
  const first = buildPageRequest({ service, query, owner, params: {} }, 'servers.list', {
    size: LIMITS.pageSizeMax,
    sorts: SERVER_SORTS,
  });
  const servers: Server[] = [];
  for (let page = { ...first, after: null as typeof first.after }; ; ) {
    const { items, next } = await listServers(service, owner, page);
    servers.push(...items);
    if (next === null || servers.length >= LIMITS.listedAddressesMax) break;
    page = { ...page, after: next };
  }
  return servers.slice(0, LIMITS.listedAddressesMax);
}

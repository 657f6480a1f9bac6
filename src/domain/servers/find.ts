/** Reads a customer's own servers; another customer's server is not found. */
import { notFound } from '../../kernel/fail.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { findOwnServer, findServerIdByPublicNo } from '../../store/servers/servers.ts';
import type { CustomerActor, Service } from '../context.ts';
import { serverObject } from './object.ts';

/** Reads a server by its public id in one statement: the most frequent request. Refuses with `not_found`. */
export async function getServer(service: Service, actor: CustomerActor, shownId: string): Promise<Server> {
  const id = parseId('server', shownId) ?? notFound('server');
  return serverObject((await findOwnServer(service.reads, actor.customerId, id)) ?? notFound('server'));
}

/** Returns the public id for the number that the session surface shows; refuses with `not_found`. */
export async function serverIdByNo(
  service: Service,
  actor: Pick<CustomerActor, 'customerId'>,
  serverNo: bigint,
): Promise<string> {
  const id = await findServerIdByPublicNo(service.reads, actor.customerId, serverNo);
  return formatId('server', id ?? notFound('server'));
}

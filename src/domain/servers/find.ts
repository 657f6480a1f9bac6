/** A customer's own servers; what another customer owns is not there. */
import { notFound } from '../../kernel/fail.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { findOwnServer, findServerIdByPublicNo } from '../../store/servers.ts';
import type { CustomerActor, Service } from '../context.ts';
import { serverObject } from './object.ts';

/** By its shown id; refuses with `not_found`. Asked most of all: one statement. */
export async function getServer(service: Service, actor: CustomerActor, shownId: string): Promise<Server> {
  const id = parseId('server', shownId) ?? notFound('server');
  return serverObject((await findOwnServer(service.reads, actor.customerId, id)) ?? notFound('server'));
}

/** Its shown id, by the integer that the session surface shows; refuses with `not_found`. */
export async function serverIdByNo(
  service: Service,
  actor: Pick<CustomerActor, 'customerId'>,
  serverNo: bigint,
): Promise<string> {
  const id = await findServerIdByPublicNo(service.reads, actor.customerId, serverNo);
  return formatId('server', id ?? notFound('server'));
}

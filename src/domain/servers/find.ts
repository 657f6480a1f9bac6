/** A customer's own servers; what another customer owns is not there. */
import { notFound } from '../../kernel/fail.ts';
import { readId } from '../../kernel/ids.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { findServerByNo, findServerOf, listServers, type NamedServerRow } from '../../store/servers.ts';
import type { CustomerActor, Service } from '../context.ts';
import { serverObject } from './object.ts';

/** By its shown id; refuses with `not_found`. Asked most of all: one statement. */
export async function getServer(service: Service, actor: CustomerActor, shownId: string): Promise<Server> {
  const id = readId('server', shownId) ?? notFound('server');
  return serverObject((await findServerOf(service.reads, actor.customerId, id)) ?? notFound('server'));
}

/** By the integer that the session surface shows; refuses with `not_found`. */
export async function findOwnServer(
  service: Service,
  customerId: string,
  serverNo: bigint,
): Promise<NamedServerRow> {
  return (await findServerByNo(service.db, customerId, serverNo)) ?? notFound('server');
}

/** Far above any quota. */
const LIST_MAX = 1_000;

/** Newest first. */
export async function listOwnServers(service: Service, customerId: string): Promise<NamedServerRow[]> {
  return await listServers(service.db, customerId, LIST_MAX);
}

/** A customer's own servers; what another customer owns is not there. */
import { fail } from '../../kernel/fail.ts';
import { findServerByNo, listServers, type NamedServerRow } from '../../store/servers.ts';
import type { Service } from '../context.ts';

/** By the integer that the session surface shows; refuses with `not_found`. */
export async function findOwnServer(
  service: Service,
  customerId: string,
  serverNo: bigint,
): Promise<NamedServerRow> {
  return (await findServerByNo(service.db, customerId, serverNo)) ?? fail('not_found');
}

/** Far above any quota. */
const LIST_MAX = 1_000;

/** Newest first. */
export async function listOwnServers(service: Service, customerId: string): Promise<NamedServerRow[]> {
  return await listServers(service.db, customerId, LIST_MAX);
}

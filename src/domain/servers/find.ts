/** A customer's own servers; what another customer owns is not there. */
import { fail } from '../../kernel/fail.ts';
import { QUOTAS } from '../../spec/limits.ts';
import { findServerByNo, listServers, type ServerRow } from '../../store/servers.ts';
import type { Service } from '../context.ts';

/** By the integer that the session surface shows; refuses with `not_found`. */
export async function findOwnServer(
  service: Service,
  customerId: string,
  serverNo: bigint,
): Promise<ServerRow> {
  return (await findServerByNo(service.db, customerId, serverNo)) ?? fail('not_found');
}

/** Newest first; the quota bounds the list. */
export async function listOwnServers(service: Service, customerId: string): Promise<ServerRow[]> {
  return await listServers(service.db, customerId, QUOTAS.servers);
}

/** Reverse DNS of a server's addresses: stored here, published by the task `rdns`. */
import { formatCidr, parseCidr } from '../../kernel/cidr.ts';
import { type ErrorItem, fail, invalidRequest, quotaExceeded } from '../../kernel/fail.ts';
import type { RdnsBody, Server } from '../../spec/schemas/server.ts';
import { type ServerRow, setServerRdns } from '../../store/servers/servers.ts';
import { enqueueTask } from '../../store/tasks.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { lockServerFor } from './lock-server.ts';
import { serverIpv6, serverObject } from './object.ts';

/**
 * Sets or removes (null) the host name of the IPv4 address, and of one address of the /64. Refuses with 400 a
 * body that names neither, with `not_found`, with `conflict_state` before addresses are assigned,
 * `invalid_value`, `limit_reached`.
 */
export async function setRdns(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  body: RdnsBody,
): Promise<Server> {
  const wanted = readBody(body);
  const set = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const server = await lockServerFor(tx, actor.customerId, shownId, 'update');
    const rdns = changedRdns(server, body, wanted, service.settings.quotas.rdnsPerServer);
    const changed = { ...server, rdns, updated_at: now };
    await setServerRdns(tx, changed);
    if (service.dns !== null) await enqueueTask(tx, { kind: 'rdns', subject: server.id, now });
    const object = serverObject(changed);
    await recordAudit(tx, { actor, action: 'server.set_rdns', resource: shownId }, now);
    await actor.saveResponse?.(tx, object);
    return object;
  });
  service.wake();
  return set;
}

/** Returns the IPv6 address in canonical form; null means the server's own. */
function readBody(body: RdnsBody): { readonly address: string | null } {
  const items: ErrorItem[] = [];
  if (body.ipv4 === undefined && body.ipv6 === undefined) {
    items.push({ field: 'ipv4', issue: 'required' }, { field: 'ipv6', issue: 'required' });
  } else if (body.address !== undefined && body.ipv6 === undefined) {
    items.push({ field: 'ipv6', issue: 'required' });
  }
  const address = body.address === undefined ? null : canonicalIpv6(body.address);
  if (address === undefined) items.push({ field: 'address', issue: 'invalid_format' });
  if (items.length > 0) {
    invalidRequest(
      items,
      'Set ipv4, ipv6, or both to a host name or null. The address field applies to ipv6 only.',
    );
  }
  return { address: address ?? null };
}

function changedRdns(
  server: ServerRow,
  body: RdnsBody,
  wanted: { readonly address: string | null },
  limit: number,
): Record<string, string> {
  const { ipv4, ipv6_prefix: prefix } = server;
  if (server.first_run_at === null || ipv4 === null || prefix === null) {
    fail(
      'conflict_state',
      {},
      'The server has no addresses until it first runs. Try again when it is running.',
    );
  }
  const ipv6 = wanted.address ?? serverIpv6(prefix);
  if (!isInside(ipv6, prefix)) {
    fail('invalid_value', { field: 'address' }, 'This address is not in the /64 of the server.');
  }
  const records = new Map(Object.entries(server.rdns));
  for (const [address, host] of [[ipv4, body.ipv4] as const, [ipv6, body.ipv6] as const]) {
    if (host === null) records.delete(address);
    else if (host !== undefined) records.set(address, host);
  }
  const count = (addresses: Iterable<string>) => [...addresses].filter((one) => one !== ipv4).length;
  if (count(records.keys()) > limit) {
    const used = count(Object.keys(server.rdns));
    quotaExceeded('rdnsPerServer', limit, { field: 'address', used });
  }
  return Object.fromEntries(records);
}

function canonicalIpv6(address: string): string | undefined {
  const block = parseCidr(`${address}/128`);
  return block && formatCidr(block).replace('/128', '');
}

function isInside(address: string, prefix: string): boolean {
  const network = (text: string) => (parseCidr(text)?.first ?? 0n) >> 64n;
  return network(`${address}/128`) === network(prefix);
}

/** A server as the REST contract shows it. */
import { showId } from '../../kernel/ids.ts';
import { centsNumber } from '../../kernel/money.ts';
import { rfc3339 } from '../../kernel/time.ts';
import type { Server } from '../../spec/schemas/server.ts';
import type { ServerRow } from '../../store/servers.ts';

export function serverObject(row: ServerRow): Server {
  // Addresses are held from the start, and shown when the machine answers on them.
  const shown = row.first_run_at !== null;
  return {
    id: showId('server', row.id),
    object: 'server',
    name: row.name,
    status: row.status,
    plan: row.plan_id,
    region: row.region_id,
    image: showId(row.image_type === 'custom' ? 'customImage' : 'image', row.image_id),
    ipv4:
      shown && row.ipv4 !== null && row.ipv4_gateway !== null
        ? { address: row.ipv4, gateway: row.ipv4_gateway, rdns: null }
        : null,
    ipv6:
      shown && row.ipv6_prefix !== null
        ? { address: serverIpv6(row.ipv6_prefix), prefix: row.ipv6_prefix, rdns: null }
        : null,
    ssh_keys: row.ssh_keys.map((key) => showId('sshKey', key)),
    tags: row.tags,
    labels: row.labels,
    billing_months: row.billing_months,
    auto_renew: row.auto_renew,
    paid_until: rfc3339(row.paid_until),
    price_usd_cycle: centsNumber(row.price_cents_cycle),
    suspended_reason: row.suspended_reason,
    created_at: rfc3339(row.created_at),
    updated_at: rfc3339(row.updated_at),
  };
}

/** The server's own address in its /64: `…::1`. */
export function serverIpv6(prefix: string): string {
  const network = prefix.slice(0, prefix.indexOf('/'));
  return network.endsWith('::') ? `${network}1` : `${network}::1`;
}

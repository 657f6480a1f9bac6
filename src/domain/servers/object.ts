/** A server as the REST contract shows it. */
import { formatId } from '../../kernel/ids.ts';
import { centsToUsd } from '../../kernel/money.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { Server } from '../../spec/schemas/server.ts';
import type { ShownServerRow } from '../../store/servers/servers.ts';
import { shownAction } from '../actions/object.ts';
import { showImageId } from '../images/read.ts';

export function serverObject(row: ShownServerRow): Server {
  return {
    id: formatId('server', row.id),
    object: 'server',
    name: row.name,
    status: row.status,
    plan: row.plan_id,
    region: row.region_id,
    image: showImageId({ id: row.image_id, type: row.image_type }),
    iso: row.iso_image_id === null ? null : formatId('customImage', row.iso_image_id),
    boot: row.boot,
    disk_gb: row.disk_gb,
    ipv4: ipv4Object(row),
    ipv6: ipv6Object(row),
    ssh_keys: row.ssh_keys.map((key) => formatId('sshKey', key)),
    tags: row.tags,
    labels: row.labels,
    protection: { delete: row.protect_delete, rebuild: row.protect_rebuild },
    billing_months: row.billing_months,
    auto_renew: row.auto_renew,
    paid_until: formatRfc3339(row.paid_until),
    price_usd_cycle: centsToUsd(row.price_cents_cycle),
    suspended_reason: row.suspended_reason,
    action: shownAction(row),
    created_at: formatRfc3339(row.created_at),
    updated_at: formatRfc3339(row.updated_at),
  };
}

/** Addresses are reserved from the start, and shown once the machine has answered on them. */
function ipv4Object(row: ShownServerRow): Server['ipv4'] {
  if (row.first_run_at === null || row.ipv4 === null || row.ipv4_gateway === null) return null;
  return { address: row.ipv4, gateway: row.ipv4_gateway, rdns: row.rdns[row.ipv4] ?? null };
}

function ipv6Object(row: ShownServerRow): Server['ipv6'] {
  if (row.first_run_at === null || row.ipv6_prefix === null) return null;
  const address = serverIpv6(row.ipv6_prefix);
  const { [row.ipv4 ?? '']: _, ...records } = row.rdns;
  return { address, prefix: row.ipv6_prefix, rdns: records[address] ?? null, rdns_records: records };
}

/** Returns the server's own address in its /64: `…::1`. */
export function serverIpv6(prefix: string): string {
  const network = prefix.slice(0, prefix.indexOf('/'));
  return network.endsWith('::') ? `${network}1` : `${network}::1`;
}

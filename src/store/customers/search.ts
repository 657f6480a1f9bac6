/** Finds a customer's resources by what they wrote somewhere: a name, an address, a tag, an id. */
import type { IdKind } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';

export type FoundKind = Extract<
  IdKind,
  | 'server'
  | 'volume'
  | 'snapshot'
  | 'customImage'
  | 'sshKey'
  | 'firewallGroup'
  | 'webhook'
  | 'alert'
  | 'topup'
>;

export interface FoundRow {
  readonly kind: FoundKind;
  readonly id: string;
  readonly name: string;
  /** The status, region, or fingerprint that tells it from others; empty if there is none. */
  readonly detail: string;
}

export interface SearchValues {
  readonly customerId: string;
  /** As typed: addresses of coins and transaction ids differ by case. */
  readonly exact: string;
  /** In lower case. */
  readonly text: string;
  /** The resource with this id; null if the text is none. */
  readonly id: string | null;
  /** Null unless the text is an IPv6 address. */
  readonly ipv6: string | null;
  readonly limit: number;
}

interface Source {
  readonly from: string;
  readonly name: string;
  readonly detail: string;
  /** Besides its name and id. */
  readonly also?: string;
  readonly where?: string;
}

/** The alias of each table is `x`. Quotas bound the rows of a customer, apart from top-ups. */
const SOURCES: Record<FoundKind, Source> = {
  server: {
    from: `servers x left join ipv4_addresses a on a.server_id = x.id
      left join ipv6_prefixes p on p.server_id = x.id`,
    name: 'x.name',
    detail: 'x.status',
    // Addresses are shown once the server has run.
    also: `(x.first_run_at is not null and (host(a.addr) = $text or p.prefix >>= $ipv6::inet))
      or exists (select from unnest(x.tags) tag where lower(tag) = $text)
      or exists (select from jsonb_each_text(x.labels) l
                  where $text in (lower(l.key || '=' || l.value), lower(l.key), lower(l.value)))
      or exists (select from jsonb_each_text(x.rdns) r where position($text in lower(r.value)) > 0)`,
  },
  volume: { from: 'volumes x', name: 'x.name', detail: 'x.region_id', where: 'x.deleted_at is null' },
  snapshot: { from: 'snapshots x', name: 'x.name', detail: 'x.status' },
  customImage: { from: 'images x', name: 'x.name', detail: 'x.family', where: 'x.deleted_at is null' },
  sshKey: { from: 'ssh_keys x', name: 'x.name', detail: 'x.fingerprint', also: 'x.fingerprint = $exact' },
  firewallGroup: { from: 'firewall_groups x', name: 'x.name', detail: `''` },
  webhook: { from: 'webhooks x', name: 'x.url', detail: `''` },
  alert: { from: 'alerts x', name: 'x.name', detail: `''` },
  topup: {
    from: 'topups x',
    name: `'$' || to_char(x.amount_cents / 100.0, 'FM999,999,990.00') || ' in ' || x.coin`,
    detail: 'x.status',
    also: `x.deposit_address = $exact or x.order_ref = $exact
      or x.id in (select topup_id from deposits where txid = $exact)`,
  },
};

const STATEMENT = `select kind, id, name, detail from (
${Object.entries(SOURCES).map(selectFrom).join('\nunion all\n')}) found
order by position($text in lower(name)) = 0, lower(name) <> $text, not starts_with(lower(name), $text),
         name, id
limit $limit`;

function selectFrom([kind, { from, name, detail, also, where = 'true' }]: [string, Source]): string {
  return `select '${kind}' as kind, x.id, ${name} as name, ${detail} as detail from ${from}
   where x.customer_id = $customerId and ${where}
     and (x.id = $id::uuid or position($text in lower(${name})) > 0 or ${also ?? 'false'})`;
}

/** Best matches first: the exact name, names that begin with the text, names that contain it, the rest. */
export async function searchResources(tx: Sql, values: SearchValues): Promise<readonly FoundRow[]> {
  return await tx.rows<FoundRow>(STATEMENT, values);
}

/** Orders over REST: free addresses, a key, and the request. */
import type { Sql } from '../src/kernel/sql.ts';
import type { Peer, RequestSpec } from './load.ts';

const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILsv+fhY0IRIxmC+G8dxGXPt+SUoIOn7G/MCRcXsgJAD bench';

/** Keeps the customer's number of servers as it was: the others belong to customers who send nothing. */
export const SPREAD_SERVERS = `update servers
  set customer_id = (select max(customer_id::text)::uuid from balances) where name = 'bench'`;

/** Adds free addresses to the region of the fixture, and lifts its customers' limit of servers. */
export async function makeRoom(db: Sql, count: number): Promise<void> {
  // Earlier versions have no limits.
  const limits = await db.row(
    `select 1 from information_schema.columns where table_name = 'balances' and column_name = 'own_limits'`,
  );
  if (limits)
    await db.run(`update balances set own_limits = jsonb_build_object('servers', 2 * $1::int)`, [count]);
  await db.run(
    `insert into ipv4_addresses (addr, block_id, region_id, gateway, free_from)
     select '10.0.100.0'::inet + i, block_id, region_id, gateway, free_from
       from (select * from ipv4_addresses where region_id = 'aaa' limit 1) one,
            generate_series(1, $1::int) i`,
    [count],
  );
  await db.run(
    `insert into ipv6_prefixes (prefix, block_id, region_id, free_from)
     select set_masklen(('2001:db8:0:' || to_hex(i) || '::')::inet, 64)::cidr, block_id, region_id, free_from
       from (select * from ipv6_prefixes where region_id = 'aaa' limit 1) one,
            generate_series(1000, 1000 + $1::int) i`,
    [count],
  );
}

export async function addKey(
  { url }: Pick<Peer, 'url'>,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const response = await fetch(new URL('/v1/ssh-keys', url), {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench', public_key: PUBLIC_KEY }),
  });
  return ((await response.json()) as { id: string }).id;
}

export function orderRequest({ headers }: RequestSpec, image: string, key: string): RequestSpec {
  const body = { name: 'bench', plan: 's1', region: 'aaa', image, ssh_keys: [key] };
  return {
    method: 'POST',
    path: '/v1/servers',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    status: 201,
  };
}

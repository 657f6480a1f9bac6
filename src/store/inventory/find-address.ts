/** One address of the pool, for staff. */
import type { Sql } from '../../kernel/sql.ts';

export interface AddressRow {
  readonly region_id: string;
  readonly block: string;
  readonly gateway: string;
  readonly blocked: boolean;
  readonly free_from: Date;
  /** The lost host that may still use it. */
  readonly held_by: string | null;
  /** All null: no server has it. */
  readonly server_id: string | null;
  readonly server_name: string | null;
  readonly email: string | null;
  /** Names of all addresses of the server. */
  readonly rdns: Readonly<Record<string, string>> | null;
}

/** An IPv6 address stands for its /64. */
export async function findAddress(tx: Sql, address: string): Promise<AddressRow | undefined> {
  const source = address.includes(':')
    ? 'ipv6_prefixes a where a.prefix = network(set_masklen($1::inet, 64))'
    : 'ipv4_addresses a where a.addr = $1::inet';
  return await tx.row<AddressRow>(
    `select a.region_id, b.block::text as block, host(b.gateway) as gateway, a.blocked, a.free_from,
            h.name as held_by, s.id as server_id, s.name as server_name, c.email, s.rdns
       from (select a.* from ${source}) a
       join ip_blocks b on b.id = a.block_id
       left join hosts h on h.id = a.held_by
       left join servers s on s.id = a.server_id
       left join customers c on c.id = s.customer_id`,
    [address],
  );
}

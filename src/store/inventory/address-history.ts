/** Who had an address when. Rows change in the statements that assign and release addresses. */
import type { Sql } from '../../kernel/sql.ts';
import { LIMITS } from '../../spec/limits.ts';

export interface AssignmentRow {
  readonly server_id: string;
  /** Null: the server was deleted. */
  readonly server_name: string | null;
  readonly customer_id: string;
  /** Null: the account was deleted. */
  readonly email: string | null;
  readonly assigned_at: Date;
  readonly released_at: Date | null;
}

/**
 * Ends the assignments of the addresses that meet a condition on the columns `server_id` and `held_by` of
 * both pools, as a part of the statement that releases them at `now`. An address that a lost host keeps is
 * still assigned: its server there may use it.
 */
export function endAssignments(condition: string, now: string): string {
  return `update address_assignments a
             set released_at = ${now},
                 expires_at = least(${now} + interval '${LIMITS.addressHistoryDays} days',
                   (select greatest(c.deleted_at + interval '${LIMITS.auditRetentionDays} days', ${now})
                      from customers c where c.id = a.customer_id and c.deleted_at is not null))
           where released_at is null
             and address in (select addr::cidr from ipv4_addresses where ${condition}
                             union all select prefix from ipv6_prefixes where ${condition})`;
}

/** The newest `limit` assignments of an address, or those at a time. An IPv6 address stands for its /64. */
export async function listAssignments(
  tx: Sql,
  address: string,
  { at, limit }: { readonly at: Date | null; readonly limit: number },
): Promise<AssignmentRow[]> {
  const key = address.includes(':') ? 'network(set_masklen($1::inet, 64))' : '$1::inet::cidr';
  return await tx.rows<AssignmentRow>(
    `select a.server_id, s.name as server_name, a.customer_id,
            case when c.deleted_at is null then c.email end as email, a.assigned_at, a.released_at
       from address_assignments a
       join customers c on c.id = a.customer_id
       left join servers s on s.id = a.server_id
      where a.address = ${key}
        and ($2::timestamptz is null
             or (a.assigned_at <= $2 and (a.released_at is null or a.released_at > $2)))
      order by a.assigned_at desc, a.server_id limit $3`,
    [address, at, limit],
  );
}

/** Keeps the history of a deleted account until then at most. */
export async function shortenAssignments(tx: Sql, customerId: string, until: Date): Promise<void> {
  await tx.run('update address_assignments set expires_at = $2 where customer_id = $1 and expires_at > $2', [
    customerId,
    until,
  ]);
}

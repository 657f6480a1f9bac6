/** Images of all customers, for staff. */
import type { Sql } from '../../kernel/sql.ts';
import { conditionsFor } from '../parameters.ts';

export interface OperatorImageRow {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly size_bytes: bigint;
  /** Servers that were installed from it, or have it inserted. */
  readonly servers: bigint;
}

export interface OperatorImageFilter {
  readonly customerId?: string;
  readonly beforeId?: string;
}

const CONDITIONS = { customerId: 'i.customer_id = $customerId', beforeId: 'i.id < $beforeId' };

/** Newest first: ids begin with the time. Leaves out deleted ones. */
export async function listOperatorImages(
  tx: Sql,
  filter: OperatorImageFilter,
  limit: number,
): Promise<OperatorImageRow[]> {
  return await tx.rows<OperatorImageRow>(
    `select i.id, i.name, c.email, i.size_bytes,
            (select count(*) from servers where image_id = i.id)
              + (select count(*) from servers where iso_image_id = i.id) as servers
       from images i join customers c on c.id = i.customer_id
      where i.deleted_at is null and ${conditionsFor(filter, CONDITIONS)} order by i.id desc limit $limit`,
    { ...filter, limit },
  );
}

/** All customers as the operator lists and finds them. */
import type { Sql } from '../../kernel/sql.ts';
import { conditionsFor } from '../parameters.ts';

export interface OperatorCustomerRow {
  readonly id: string;
  readonly email: string;
  readonly created_at: Date;
  readonly frozen_at: Date | null;
  readonly deleting_at: Date | null;
  readonly balance_cents: bigint;
  readonly servers: bigint;
  readonly tags: readonly string[];
}

/** Omitted fields match everything. */
export interface OperatorCustomerFilter {
  readonly id?: string;
  /** The beginning of the address, in lower case, as a pattern of LIKE. */
  readonly emailPattern?: string;
  readonly frozen?: true;
  readonly tag?: string;
  /** Only customers older than this one; ids begin with the time. */
  readonly beforeId?: string;
}

const CONDITIONS = {
  id: 'c.id = $id',
  emailPattern: 'c.email_key like $emailPattern',
  frozen: 'c.frozen_at is not null',
  tag: 'exists (select from customer_tags t where t.tag = $tag and t.customer_id = c.id)',
  beforeId: 'c.id < $beforeId',
};

/** Newest first. Counts the servers of the rows of one page only. */
export async function listOperatorCustomers(
  tx: Sql,
  filter: OperatorCustomerFilter,
  limit: number,
): Promise<OperatorCustomerRow[]> {
  return await tx.rows<OperatorCustomerRow>(
    `select c.id, c.email, c.created_at, c.frozen_at, c.deleting_at, b.balance_cents,
            (select count(*) from servers s where s.customer_id = c.id) as servers,
            array(select t.tag from customer_tags t where t.customer_id = c.id order by t.tag) as tags
       from (select * from customers c where ${conditionsFor(filter, CONDITIONS)}
              order by c.id desc limit $limit) c
       join balances b on b.customer_id = c.id
      order by c.id desc`,
    { ...filter, limit },
  );
}

/** Finds the customer of a server, of a top-up, or of the top-up with this order, address, or transaction. */
export async function findCustomerIdOf(
  tx: Sql,
  {
    serverId = null,
    topupId = null,
    text,
  }: { serverId?: string | null; topupId?: string | null; text: string },
): Promise<string | undefined> {
  const row = await tx.row<{ customer_id: string }>(
    `select customer_id from servers where id = $serverId::uuid
      union all
     select customer_id from topups where id = $topupId::uuid or order_ref = $text or deposit_address = $text
      union all
     select t.customer_id from deposits d join topups t on t.id = d.topup_id where d.txid = $text
      limit 1`,
    { serverId, topupId, text },
  );
  return row?.customer_id;
}

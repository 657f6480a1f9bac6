import type { Sql } from '../kernel/sql.ts';

export interface CustomerOverview {
  readonly id: string;
  readonly email: string;
  readonly email_confirmed_at: Date | null;
  readonly has_openpgp_key: boolean;
  /** When the second factor was enabled, or null. */
  readonly totp_since: Date | null;
  readonly frozen_at: Date | null;
  readonly deleting_at: Date | null;
  readonly created_at: Date;
  readonly balance_cents: bigint;
  readonly servers: bigint;
  readonly suspended: bigint;
  readonly held: bigint;
  readonly volumes: bigint;
  readonly snapshots: bigint;
  readonly tokens: bigint;
  readonly sessions: bigint;
  /** Payments that are confirming or withheld. */
  readonly payments: bigint;
}

/** Reads the summary that an operator sees of a customer. Quotas bound what it counts. */
export async function readCustomerOverview(
  tx: Sql,
  customerId: string,
): Promise<CustomerOverview | undefined> {
  return await tx.row<CustomerOverview>(
    `select c.id, c.email, c.email_confirmed_at, c.openpgp_key is not null as has_openpgp_key, c.frozen_at,
            (select confirmed_at from totp_secrets t where t.customer_id = c.id) as totp_since,
            c.deleting_at, c.created_at, b.balance_cents, s.servers, s.suspended, s.held,
            (select count(*) from volumes v where v.customer_id = c.id and deleted_at is null) as volumes,
            (select count(*) from snapshots n where n.customer_id = c.id) as snapshots,
            (select count(*) from api_tokens t where t.customer_id = c.id) as tokens,
            (select count(*) from sessions e where e.customer_id = c.id) as sessions,
            (select count(*) from topups p where p.customer_id = c.id and status = 'confirming') as payments
       from customers c join balances b on b.customer_id = c.id,
            lateral (select count(*) as servers, count(*) filter (where status = 'suspended') as suspended,
                            count(*) filter (where held_at is not null) as held
                       from servers where customer_id = c.id) as s
      where c.id = $1`,
    [customerId],
  );
}

import { readSessionAccount } from '../../store/customers.ts';
import type { Service } from '../context.ts';

export interface Account {
  /** The integer that the session surface shows. */
  readonly publicNo: bigint;
  readonly email: string;
  readonly balanceCents: bigint;
}

/** The customer as the session probe shows him; undefined when the account is gone. */
export async function findAccount(service: Service, customerId: string): Promise<Account | undefined> {
  const row = await readSessionAccount(service.db, customerId);
  return row && { publicNo: row.public_no, email: row.email, balanceCents: row.balance_cents };
}

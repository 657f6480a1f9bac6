import { readSessionAccount } from '../../store/customers/customers.ts';
import type { Service } from '../context.ts';

export interface Account {
  /** The integer that the session API shows. */
  readonly publicNo: bigint;
  readonly email: string;
  readonly balanceCents: bigint;
}

/** Returns the account for the session probe; undefined if it no longer exists. */
export async function findAccount(service: Service, customerId: string): Promise<Account | undefined> {
  const row = await readSessionAccount(service.db, customerId);
  return row && { publicNo: row.public_no, email: row.email, balanceCents: row.balance_cents };
}

import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import { type CustomerRow, findCustomerByEmail } from '../../store/customers/customers.ts';
import { parseEmail } from './email.ts';

/** Returns the customer that the operator names by email address. */
export async function requireCustomer(tx: Sql, email: string): Promise<CustomerRow> {
  const key = parseEmail(email)?.key;
  const customer = key === undefined ? undefined : await findCustomerByEmail(tx, key);
  if (!customer) throw new OperatorError('no customer has this email address');
  return customer;
}

import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import { type CustomerRow, findCustomerByEmail } from '../../store/customers.ts';
import { parseEmail } from './email.ts';

/** The customer whom the operator names by e-mail. */
export async function requireCustomer(tx: Sql, email: string): Promise<CustomerRow> {
  const key = parseEmail(email)?.key;
  const customer = key === undefined ? undefined : await findCustomerByEmail(tx, key);
  if (!customer) throw new OperatorError('there is no customer with this e-mail address');
  return customer;
}

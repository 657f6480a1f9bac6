/** Freezes a customer: everything is readable, nothing can be changed, and servers keep running. */

import { setCustomerFrozen } from '../../store/customers/customers.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { requireCustomer } from './by-email.ts';

/** Freezes or unfreezes; returns false if there is no change. */
export async function freezeCustomer(
  service: Pick<Service, 'db' | 'clock'>,
  email: string,
  frozen: boolean,
): Promise<boolean> {
  const now = service.clock.now();
  return await service.db.transaction(async (tx) => {
    const { id: customerId } = await requireCustomer(tx, email);
    if (!(await setCustomerFrozen(tx, customerId, frozen ? now : null))) return false;
    const action = frozen ? 'customer.freeze' : 'customer.unfreeze';
    await recordAudit(tx, { actor: systemActor(now), action, resource: null, customerId }, now);
    return true;
  });
}

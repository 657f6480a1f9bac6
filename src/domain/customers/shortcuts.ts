/** Turns the panel's keyboard shortcuts of one character on or off (WCAG 2.1.4), for all browsers. */
import { fail } from '../../kernel/fail.ts';
import { lockCustomer, setShortcutsOff } from '../../store/customers/customers.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';

export async function setShortcuts(
  service: Service,
  actor: CustomerActor,
  { on }: { readonly on: boolean },
): Promise<void> {
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    (await lockCustomer(tx, actor.customerId)) ?? fail('auth_required');
    await setShortcutsOff(tx, actor.customerId, on ? null : now);
    await recordAudit(tx, { actor, action: 'customer.set_shortcuts', resource: null }, now);
    await actor.saveResponse?.(tx, {});
  });
}

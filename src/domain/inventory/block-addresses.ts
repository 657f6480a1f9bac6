/** Addresses that must not be handed out: a router's, a burnt one. */
import { addressFamily, parseCidr } from '../../kernel/cidr.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { isInPool, setAddressesBlocked } from '../../store/addresses.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';

/**
 * Blocks an address or a CIDR range for good, or lifts that. A server keeps the address it has; when it is gone,
 * nobody gets it again. Returns how many addresses and /64s changed, and how many of those servers still have.
 */
export async function blockAddresses(
  service: Pick<Service, 'db' | 'clock'>,
  range: string,
  blocked: boolean,
): Promise<{ readonly changed: number; readonly assigned: number }> {
  if (!addressFamily(range) && !parseCidr(range)) {
    throw new OperatorError(`${range} is neither an address nor a block such as 203.0.113.0/28`);
  }
  const now = service.clock.now();
  return await service.db.transaction(async (tx) => {
    if (!(await isInPool(tx, range))) throw new OperatorError(`the pool has no address in ${range}`);
    const done = await setAddressesBlocked(tx, range, blocked);
    const action = blocked ? 'ips.block' : 'ips.unblock';
    if (done.changed > 0) await recordAudit(tx, { actor: systemActor(now), action, resource: null }, now);
    return done;
  });
}

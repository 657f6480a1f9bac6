/** Blocks addresses that must not be assigned, such as a router's or one with a bad reputation. */
import { addressFamily, parseCidr } from '../../kernel/cidr.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { isInPool, setAddressesBlocked } from '../../store/inventory/addresses.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';

/**
 * Blocks an address or CIDR range permanently, or unblocks it. A server keeps its address; once released,
 * the address is not assigned again. Returns the number of changed addresses and /64s, and how many of them
 * servers still have.
 */
export async function blockAddresses(
  service: Pick<Service, 'db' | 'clock'>,
  range: string,
  blocked: boolean,
): Promise<{ readonly changed: number; readonly assigned: number }> {
  if (!addressFamily(range) && !parseCidr(range)) {
    throw new OperatorError(`${range} is not an address or a block such as 203.0.113.0/28`);
  }
  const now = service.clock.now();
  return await service.db.transaction(async (tx) => {
    if (!(await isInPool(tx, range))) throw new OperatorError(`no address in ${range} is in the pool`);
    const done = await setAddressesBlocked(tx, range, blocked);
    const action = blocked ? 'ips.block' : 'ips.unblock';
    if (done.changed > 0) await recordAudit(tx, { actor: systemActor(now), action, resource: null }, now);
    return done;
  });
}

import { listPlans } from '../../store/catalogue/catalogue.ts';
import type { OfferContext } from '../../store/catalogue/offers.ts';
import type { Service } from '../context.ts';
import { isSoldByHand } from '../servers/hardware.ts';

/**
 * Returns the regions that sell each plan by plan id, in stock or not. Compared with current availability,
 * this tells "sold out" from "not sold here".
 */
export async function listSellingRegions(
  service: Pick<Service, 'db'>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const plans = await listPlans(service.db);
  return new Map(plans.filter(({ active }) => active).map(({ id, regions }) => [id, regions]));
}

/**
 * Returns the current conditions of an offer: the time, and whether the driver can deploy dedicated
 * servers.
 */
export function offeredNow(service: Pick<Service, 'clock' | 'compute'>): OfferContext {
  return { at: service.clock.now(), dedicated: !isSoldByHand(service, 'dedicated') };
}

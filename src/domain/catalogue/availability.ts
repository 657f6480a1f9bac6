import { listPlans } from '../../store/catalogue.ts';
import type { OfferContext } from '../../store/offers.ts';
import type { Service } from '../context.ts';
import { isSoldByHand } from '../servers/hardware.ts';

/**
 * The regions that sell a plan, by the plan's id, whether or not there is room in them now: with what can be deployed right
 * now this tells what is sold out from what is not sold there.
 */
export async function listSellingRegions(
  service: Pick<Service, 'db'>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const plans = await listPlans(service.db);
  return new Map(plans.filter(({ active }) => active).map(({ id, regions }) => [id, regions]));
}

/** What can be deployed right now depends on the moment, and on what the driver reaches. */
export function offeredNow(service: Pick<Service, 'clock' | 'compute'>): OfferContext {
  return { at: service.clock.now(), dedicated: !isSoldByHand(service, 'dedicated') };
}

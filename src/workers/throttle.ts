/** Adds up what servers send, at the beginning of each hour of the business clock: so a month's throttle ends with it. */
import type { Service } from '../domain/context.ts';
import { throttleServers } from '../domain/servers/throttle.ts';
import { HOUR_MS } from '../kernel/time.ts';
import { takeTurn } from '../store/beats.ts';
import type { Duty } from './duty.ts';

/** Batches of one run, so that others have their turn when there are many servers. */
const BATCHES = 10;

export function throttleDuty(service: Service): Duty {
  let nextAt = Number.NEGATIVE_INFINITY;
  let place: { readonly after: string | null } | null = null;
  return {
    name: 'throttle',
    housekeeping: true,
    run: async () => {
      const now = service.clock.now();
      if (place === null) {
        if (now.getTime() < nextAt) return 0;
        nextAt = (Math.floor(now.getTime() / HOUR_MS) + 1) * HOUR_MS;
        // One process for all: what a killed one has not counted is counted an hour later.
        if (!(await takeTurn(service.db, { name: 'throttle', now, nextAt: new Date(nextAt) }))) return 0;
        place = { after: null };
      }
      let did = 0;
      for (let batch = 0; batch < BATCHES && place !== null; batch++) {
        const { after }: { after: string | null } = place;
        // Should it fail, the round is over.
        place = null;
        const { next, changed } = await throttleServers(service, after);
        place = next === null ? null : { after: next };
        did += next === null ? changed : changed + 1;
      }
      return did;
    },
    nextDue: async () => null,
    busy: async () => false,
  };
}

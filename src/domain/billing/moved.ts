/**
 * What hangs on a balance that moved: servers that wait for it resume, in their turn, each as soon as the balance suffices for
 * it; and after a debit the customer is told of what it cannot renew any more.
 */
import { crashPoint } from '../../kernel/crash.ts';
import { showId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import {
  hasDueCycle,
  holdCalendar,
  lockConcerned,
  lockMoved,
  setLookedAt,
  takeMoved,
} from '../../store/calendar.ts';
import { isUnavailable } from '../../store/db.ts';
import type { Service } from '../context.ts';
import { abreast } from './abreast.ts';
import { tellIfLow } from './low-balance.ts';
import { resumeIfPaid } from './suspended.ts';

/** Looks at a batch of balances that moved; returns how much there was. */
export async function settleMoved(service: Service): Promise<number> {
  const now = service.clock.now();
  const { taken, concerned } = await service.db.transaction((tx) => takeMoved(tx, now));
  const did = await abreast(concerned, (customerId) => settleCustomer(service, customerId));
  return taken - concerned.length + did;
}

/** One customer's. A server that fails is left out and the operator told; it has its turn with the next movement. */
async function settleCustomer(service: Service, customerId: string): Promise<number> {
  const failed = new Set<string>();
  for (;;) {
    const at: { server: string | null } = { server: null };
    try {
      const { did, resumed } = await service.db.transaction((tx) =>
        settle(tx, service, { customerId, failed, at }),
      );
      if (resumed) crashPoint('suspend.committed');
      return did;
    } catch (error) {
      if (isUnavailable(error)) throw error;
      const shown = at.server && showId('server', at.server);
      service.log.error({ err: error, server: shown }, 'a movement of a balance could not be followed');
      if (at.server === null || failed.has(at.server)) {
        // Nothing would come of trying the same again: the next movement, or the next due date, looks again.
        await setLookedAt(service.db, customerId);
        return 1;
      }
      failed.add(at.server);
    }
  }
}

async function settle(
  tx: Sql,
  service: Service,
  look: { customerId: string; failed: ReadonlySet<string>; at: { server: string | null } },
): Promise<{ readonly did: number; readonly resumed: boolean }> {
  const { customerId, failed, at } = look;
  if (!(await holdCalendar(tx, customerId))) return { did: 1, resumed: false };
  const now = service.clock.now();
  // A server that runs goes before one that is to run again.
  if (await hasDueCycle(tx, customerId, now)) return { did: 0, resumed: false };
  const { waiting, renewing } = await lockConcerned(tx, customerId, now);
  const balance = await lockMoved(tx, customerId);
  let resumed = false;
  for (const server of waiting) {
    if (failed.has(server.id)) continue;
    at.server = server.id;
    if ((await resumeIfPaid(tx, service, server, now)) === 'resumed') resumed = true;
  }
  at.server = null;
  if (resumed || balance?.debited) await tellIfLow(tx, service, customerId, renewing, now);
  await setLookedAt(tx, customerId);
  return { did: 1, resumed };
}

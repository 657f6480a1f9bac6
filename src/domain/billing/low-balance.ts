/** `billing.low_balance`: once for each server and cycle, while there is time to top up. */
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { type BillRow, renewingUntil, setLowNotified } from '../../store/calendar.ts';
import { readBalance } from '../../store/ledger.ts';
import type { Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import { recordEvent } from '../record.ts';
import { serverObject } from '../servers/object.ts';
import { announcedPrice } from '../servers/price.ts';
import { balanceObject } from './balance.ts';

/**
 * Tells of each of these servers of the customer, whose locks the caller holds, when the balance cannot pay all that
 * renews within the window from now. Returns how many were told of.
 */
export async function tellIfLow(
  tx: Sql,
  service: Pick<Service, 'keys'>,
  customerId: string,
  servers: readonly BillRow[],
  now: Date,
): Promise<number> {
  if (servers.length === 0) return 0;
  const until = new Date(now.getTime() + LIMITS.lowBalanceDays * DAY_MS);
  const neededCents = (await renewingUntil(tx, customerId, until))
    .map((row) => announcedPrice(row, row.announced_cents_month).cycleCents)
    .reduce((sum, cents) => sum + cents, 0n);
  const balanceCents = await readBalance(tx, customerId);
  if (balanceCents >= neededCents) return 0;
  const object = await balanceObject(tx, customerId, now);
  for (const server of servers) {
    const beside = { server: serverObject(server) };
    await recordEvent(tx, { customerId, type: 'billing.low_balance', object, beside }, now);
    const { id, paid_until: paidUntil } = server;
    const data = {
      server: server.name,
      months: server.billing_months,
      paidUntil,
      priceCents: announcedPrice(server, server.announced_cents_month).cycleCents,
      neededCents,
      balanceCents,
    };
    const cause = `low:${id}:${paidUntil.toISOString()}`;
    await enqueueMail(tx, { customerId, kind: 'low_balance', cause, data }, now, service.keys);
    await setLowNotified(tx, id, paidUntil);
  }
  return servers.length;
}

/** Sends `billing.low_balance`: once per server and cycle, while there is still time to top up. */
import type { Sql } from '../../kernel/sql.ts';
import {
  type BillingServerRow,
  listRenewingServers,
  type RenewalRow,
  setLowNotified,
} from '../../store/billing/calendar.ts';
import { readBalance } from '../../store/ledger/ledger.ts';
import type { Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import { recordEvent } from '../record.ts';
import { priceWithAnnouncement } from '../servers/billing/price.ts';
import { serverObject } from '../servers/object.ts';
import { balanceObject } from './ledger.ts';

/**
 * Warns about each of these servers if the balance cannot pay everything that renews until the end of its
 * cycle. Servers with a later end are paid later and warn on their own. The caller holds the servers'
 * locks. Returns the number of warnings.
 */
export async function notifyIfLow(
  tx: Sql,
  service: Pick<Service, 'keys'>,
  customerId: string,
  servers: readonly BillingServerRow[],
  now: Date,
): Promise<number> {
  if (servers.length === 0) return 0;
  const last = Math.max(...servers.map((server) => server.paid_until.getTime()));
  const renewing = await listRenewingServers(tx, customerId, new Date(last));
  const balanceCents = await readBalance(tx, customerId);
  const low = servers
    .map((server) => ({ server, neededCents: renewalCostUntil(server.paid_until, renewing) }))
    .filter(({ neededCents }) => balanceCents < neededCents);
  if (low.length === 0) return 0;
  const object = await balanceObject(tx, customerId, now);
  for (const { server, neededCents } of low) {
    const related = { server: serverObject(server) };
    await recordEvent(tx, { customerId, type: 'billing.low_balance', object, related }, now);
    const { id, paid_until: paidUntil } = server;
    const data = {
      server: server.name,
      months: server.billing_months,
      paidUntil,
      priceCents: priceWithAnnouncement(server, server.announced_cents_month).cycleCents,
      neededCents,
      balanceCents,
    };
    const cause = `low:${id}:${paidUntil.toISOString()}`;
    await enqueueMail(tx, { customerId, kind: 'low_balance', cause, data }, now, service.keys);
    await setLowNotified(tx, id, paidUntil);
  }
  return low.length;
}

function renewalCostUntil(end: Date, renewing: readonly RenewalRow[]): bigint {
  return renewing
    .filter((row) => row.paid_until <= end)
    .reduce((sum, row) => sum + priceWithAnnouncement(row, row.announced_cents_month).cycleCents, 0n);
}

/** Charging a further cycle of a server, at the price of its deploy. */
import { balanceTooLow } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import { addMonths } from '../../kernel/time.ts';
import { countCycles, setPaidUntil } from '../../store/cycles.ts';
import { lockBalance } from '../../store/ledger.ts';
import type { ServerRow } from '../../store/servers.ts';
import { ledgerEntryObject } from '../ledger/object.ts';
import { charge } from '../ledger/transfer.ts';
import { recordEvent } from '../record.ts';
import { cycleDescription } from './price.ts';

/**
 * The next cycle begins now, and its day is the server's day from now on. The caller holds the server's lock. Refuses
 * with `insufficient_balance`.
 */
export async function chargeCycleFromNow(tx: Sql, server: ServerRow, now: Date): Promise<void> {
  const { customer_id: customerId, price_cents_cycle: price } = server;
  const have = (await lockBalance(tx, customerId)) ?? 0n;
  if (have < price) balanceTooLow(have, price);
  const description = cycleDescription(server);
  const cycle = (await countCycles(tx, server.id)) + 1;
  const resource = { kind: 'server', id: server.id } as const;
  const entry = await charge(
    tx,
    {
      customerId,
      account: 'revenue',
      amountCents: price,
      type: 'charge',
      resource,
      description,
      fact: `cycle:${server.id}:${cycle}`,
    },
    now,
  );
  const anchorDay = now.getUTCDate();
  const paidUntil = addMonths(now, server.billing_months, anchorDay);
  await setPaidUntil(tx, { id: server.id, paidUntil, anchorDay, now });
  const object = ledgerEntryObject({ ...entry, type: 'charge', resource, description, createdAt: now });
  await recordEvent(tx, { customerId, type: 'billing.charged', object }, now);
}

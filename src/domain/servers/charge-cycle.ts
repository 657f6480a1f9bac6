/** Charging a further cycle of a server: its ledger entry, the event, and the day until which it is paid. */
import { insufficientBalance } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import { addMonths } from '../../kernel/time.ts';
import { countCycles, setPaidUntil } from '../../store/cycles.ts';
import { lockBalance } from '../../store/ledger.ts';
import type { ServerRow } from '../../store/servers.ts';
import { ledgerEntryObject } from '../ledger/object.ts';
import { charge } from '../ledger/transfer.ts';
import { recordEvent } from '../record.ts';
import { type CyclePrice, cycleDescription, priceFrom } from './price.ts';

/**
 * The next cycle begins now, and its day is the server's day from now on. The caller holds the server's lock. Refuses
 * with `insufficient_balance`. Returns until when it is paid.
 */
export async function chargeCycleFromNow(tx: Sql, server: ServerRow, now: Date): Promise<Date> {
  const price = await priceFrom(tx, server, now);
  const balanceCents = (await lockBalance(tx, server.customer_id)) ?? 0n;
  if (balanceCents < price.cycleCents) insufficientBalance(balanceCents, price.cycleCents);
  return await chargeCycle(tx, server, { from: now, anchorDay: now.getUTCDate(), price }, now);
}

/** The cycle that begins `from`. The caller holds the locks of the server and of the balance, which suffices. */
export async function chargeCycle(
  tx: Sql,
  server: ServerRow,
  next: { readonly from: Date; readonly anchorDay: number; readonly price: CyclePrice },
  now: Date,
): Promise<Date> {
  const { id, customer_id: customerId } = server;
  const description = cycleDescription(server);
  const cycle = (await countCycles(tx, id)) + 1;
  const resource = { kind: 'server', id } as const;
  const entry = await charge(
    tx,
    {
      customerId,
      account: 'revenue',
      amountCents: next.price.cycleCents,
      type: 'charge',
      resource,
      description,
      fact: `cycle:${id}:${cycle}`,
    },
    now,
  );
  const { anchorDay } = next;
  const paidUntil = addMonths(next.from, server.billing_months, anchorDay);
  await setPaidUntil(tx, { id, paidUntil, anchorDay, ...next.price, now });
  const object = ledgerEntryObject({ ...entry, type: 'charge', resource, description, createdAt: now });
  await recordEvent(tx, { customerId, type: 'billing.charged', object }, now);
  return paidUntil;
}

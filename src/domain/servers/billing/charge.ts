/** Charges the next cycle of a server, and refunds the first one, or the unused rest of the last one. */
import { insufficientBalance } from '../../../kernel/fail.ts';
import { mulDiv } from '../../../kernel/money.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { addMonths } from '../../../kernel/time.ts';
import { countCycles, readAnchorDay, setPaidUntil } from '../../../store/billing/cycles.ts';
import { lockBalance } from '../../../store/ledger/ledger.ts';
import type { ServerRow } from '../../../store/servers/servers.ts';
import { ledgerEntryObject } from '../../ledger/object.ts';
import { charge, credit } from '../../ledger/transfer.ts';
import { recordEvent } from '../../record.ts';
import { type CyclePrice, cycleDescription, priceFrom } from './price.ts';

/**
 * Charges a cycle that begins now and makes today the server's anchor day. The caller holds the server's
 * lock. Refuses with `insufficient_balance`. Returns the end of the paid period.
 */
export async function chargeCycleFromNow(tx: Sql, server: ServerRow, now: Date): Promise<Date> {
  const price = await priceFrom(tx, server, now);
  const balanceCents = (await lockBalance(tx, server.customer_id)) ?? 0n;
  if (balanceCents < price.cycleCents) insufficientBalance(balanceCents, price.cycleCents);
  return await chargeCycle(tx, server, { from: now, anchorDay: now.getUTCDate(), price }, now);
}

/** Charges the cycle that begins at `from`. The caller locked server and balance, and checked the balance. */
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

/**
 * Refunds the first cycle of a server that never ran. A second call has no effect, because `fact` makes the
 * transfer unique. `reason` completes the description `s1 in par …`.
 */
export async function refundFirstCycle(tx: Sql, server: ServerRow, reason: string, now: Date): Promise<void> {
  await credit(
    tx,
    {
      customerId: server.customer_id,
      account: 'revenue',
      amountCents: server.price_cents_cycle,
      type: 'refund',
      resource: { kind: 'server', id: server.id },
      description: `${server.plan_id} in ${server.region_id} ${reason}`,
      fact: `refund:${server.id}:1`,
    },
    now,
  );
}

/**
 * Refunds the part of the last charged cycle that begins at `since`, to the millisecond, rounded half up to
 * the cent. Returns the amount; 0 books nothing. The caller removes the server in the same transaction.
 */
export async function refundUnusedTime(
  tx: Sql,
  server: ServerRow,
  { since, reason, now }: { readonly since: Date; readonly reason: string; readonly now: Date },
): Promise<bigint> {
  const { id, paid_until: end, billing_months: months, price_cents_cycle: cycleCents } = server;
  const start = addMonths(end, -months, await readAnchorDay(tx, id));
  const cycleMs = end.getTime() - start.getTime();
  const unusedMs = Math.min(Math.max(end.getTime() - since.getTime(), 0), cycleMs);
  const amountCents = mulDiv(cycleCents, BigInt(unusedMs), BigInt(cycleMs), 'half_up');
  if (amountCents === 0n) return 0n;
  await credit(
    tx,
    {
      customerId: server.customer_id,
      account: 'revenue',
      amountCents,
      type: 'refund',
      resource: { kind: 'server', id },
      description: `${server.plan_id} in ${server.region_id}, unused time: ${reason}`,
      fact: `refund:${id}:${await countCycles(tx, id)}`,
    },
    now,
  );
  return amountCents;
}

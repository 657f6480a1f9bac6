/** Charges the next cycle of a server, and refunds the first one, or the time after a loss. */
import { insufficientBalance } from '../../../kernel/fail.ts';
import { mulDiv } from '../../../kernel/money.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { addMonths } from '../../../kernel/time.ts';
import { countCycles, readAnchorDay, setPaidUntil } from '../../../store/billing/cycles.ts';
import { returnCharge } from '../../../store/customers/token-limits.ts';
import { findLossOfServer } from '../../../store/inventory/lost-hosts.ts';
import { findTransferOfFact, lockBalance } from '../../../store/ledger/ledger.ts';
import type { ServerRow } from '../../../store/servers/servers.ts';
import { enqueueTask } from '../../../store/tasks.ts';
import { ledgerEntryObject } from '../../ledger/object.ts';
import { charge, credit } from '../../ledger/transfer.ts';
import { recordEvent } from '../../record.ts';
import {
  type CyclePrice,
  cycleDescription,
  cycleEntryText,
  type PricedCycle,
  paidSinceChange,
  priceColumns,
  type Refund,
} from './price.ts';

/**
 * Charges the cycle of `priceStart`, which begins now, and makes today the server's anchor day. The caller
 * holds the server's lock. Refuses with `insufficient_balance`. Returns the end of the paid period.
 */
export async function chargeCycleFromNow(
  tx: Sql,
  server: ServerRow,
  cycle: PricedCycle,
  now: Date,
): Promise<Date> {
  const balanceCents = (await lockBalance(tx, server.customer_id)) ?? 0n;
  if (balanceCents < cycle.cycleCents) insufficientBalance(balanceCents, cycle.cycleCents);
  // A suspended server whose host is lost waits for this charge.
  if (await findLossOfServer(tx, server.id))
    await enqueueTask(tx, { kind: 'lost_server', subject: server.id, now });
  return await chargeCycle(tx, server, { from: now, anchorDay: cycle.anchorDay, price: cycle }, now);
}

/** Charges the cycle that begins at `from`. The caller locked server and balance, and checked the balance. */
export async function chargeCycle(
  tx: Sql,
  server: ServerRow,
  next: { readonly from: Date; readonly anchorDay: number; readonly price: CyclePrice },
  now: Date,
): Promise<Date> {
  const { id, customer_id: customerId } = server;
  const description = cycleEntryText(cycleDescription(server), next.price);
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
  await setPaidUntil(tx, { id, paidUntil, anchorDay, ...priceColumns(next.price), now });
  const object = ledgerEntryObject({ ...entry, type: 'charge', resource, description, createdAt: now });
  await recordEvent(tx, { customerId, type: 'billing.charged', object }, now);
  return paidUntil;
}

interface ChangeEntry {
  /** Its fact begins with this. `undo`: a resize that failed. */
  readonly kind: 'resize' | 'undo' | 'backups';
  /** Of the change, for the fact of the entry. */
  readonly id: string;
  /** Above zero. */
  readonly cents: bigint;
  readonly description: string;
}

/** Charges the rest of the cycle for a higher price. Refuses with `insufficient_balance`. */
export async function chargeChange(
  tx: Sql,
  { id: serverId, customer_id: customerId }: ServerRow,
  { kind, id, cents, description }: ChangeEntry,
  now: Date,
): Promise<void> {
  const resource = { kind: 'server', id: serverId } as const;
  const booked = { customerId, account: 'revenue', type: 'charge', resource, description } as const;
  const fact = `${kind}:${serverId}:${id}`;
  const entry = await charge(tx, { ...booked, amountCents: cents, fact }, now);
  const object = ledgerEntryObject({ ...entry, type: 'charge', resource, description, createdAt: now });
  await recordEvent(tx, { customerId, type: 'billing.charged', object }, now);
}

/** Refunds the rest of the cycle for a lower price, or the charge of a resize that failed. */
export async function refundChange(
  tx: Sql,
  { id: serverId, customer_id: customerId }: ServerRow,
  { kind, id, cents, description }: ChangeEntry,
  now: Date,
): Promise<void> {
  const resource = { kind: 'server', id: serverId } as const;
  const booked = { customerId, account: 'revenue', type: 'refund', resource } as const;
  const fact = `${kind}:${serverId}:${id}`;
  const shown = kind === 'undo' ? `${description}: failed` : description;
  await credit(tx, { ...booked, amountCents: cents, description: shown, fact }, now);
}

/**
 * Refunds the first cycle of a server that never ran. A second call has no effect, because `fact` makes the
 * transfer unique.
 */
export async function refundFirstCycle(
  tx: Sql,
  server: ServerRow,
  { cents, description }: Refund,
  now: Date,
): Promise<void> {
  const fact = `refund:${server.id}:1`;
  // The token gets back its own spending. Someone else may have paid for backups since.
  const ordered = await findTransferOfFact(tx, `cycle:${server.id}:1`);
  await returnCharge(tx, { serverId: server.id, cents: ordered?.amount_cents ?? cents, fact });
  await credit(
    tx,
    {
      customerId: server.customer_id,
      account: 'revenue',
      amountCents: cents,
      type: 'refund',
      resource: { kind: 'server', id: server.id },
      description,
      fact,
    },
    now,
  );
}

/**
 * Refunds the parts of all charged cycles after `since`, each to the millisecond, rounded half up to the
 * cent. Returns their sum; 0 books nothing, and a cycle is refunded once. The caller locked the server and
 * the balance, and removes the server in the same transaction.
 */
export async function refundUnusedTime(
  tx: Sql,
  server: ServerRow,
  { since, reason, now }: { readonly since: Date; readonly reason: string; readonly now: Date },
): Promise<bigint> {
  let refundedCents = 0n;
  for (const { cycle, start, end, cents } of await listCyclesAfter(tx, server, since)) {
    const fact = `refund:${server.id}:${cycle}`;
    const unusedMs = BigInt(end.getTime() - Math.max(start.getTime(), since.getTime()));
    const amountCents = mulDiv(cents, unusedMs, BigInt(end.getTime() - start.getTime()), 'half_up');
    if (amountCents === 0n || (await findTransferOfFact(tx, fact))) continue;
    const { id, customer_id: customerId, plan_id: planId, region_id: regionId } = server;
    const resource = { kind: 'server', id } as const;
    const description = `${planId} in ${regionId}, unused time: ${reason}`;
    const booked = { customerId, account: 'revenue', amountCents, type: 'refund', resource } as const;
    await credit(tx, { ...booked, description, fact }, now);
    refundedCents += amountCents;
  }
  return refundedCents;
}

interface ChargedCycle {
  readonly cycle: number;
  readonly start: Date;
  readonly end: Date;
  /** The amount charged for it. */
  readonly cents: bigint;
}

/** Lists the charged cycles that end after `since`, latest first: only the end of the last one is stored. */
async function listCyclesAfter(tx: Sql, server: ServerRow, since: Date): Promise<ChargedCycle[]> {
  const { id, billing_months: months } = server;
  const cycles: ChargedCycle[] = [];
  const lastCycle = await countCycles(tx, id);
  let cycle = lastCycle;
  let charged = await findTransferOfFact(tx, `cycle:${id}:${cycle}`);
  let end = server.paid_until;
  let anchorDay = await readAnchorDay(tx, id);
  while (charged !== undefined && end > since) {
    const start = addMonths(end, -months, anchorDay);
    const known = cycle === lastCycle ? paidSinceChange(server) : null;
    const rest = known && known.from >= start ? known : null;
    // Before the first run, a change of backups adds to the charge or takes from it.
    const wholeCents = cycle === lastCycle ? server.price_cents_cycle : charged.amount_cents;
    const cents = rest?.cents ?? wholeCents;
    cycles.push({ cycle, start: rest?.from ?? start, end, cents });
    cycle -= 1;
    const previous = await findTransferOfFact(tx, `cycle:${id}:${cycle}`);
    const isFirstOfRun = charged.created_at.getTime() === start.getTime();
    if (previous && isFirstOfRun && previous.created_at < addMonths(start, -months, anchorDay)) {
      // It was charged from then on, after a suspension. The previous cycle ended earlier.
      anchorDay = previous.created_at.getUTCDate();
      end = addMonths(previous.created_at, months, anchorDay);
    } else {
      end = start;
    }
    charged = previous;
  }
  return cycles;
}

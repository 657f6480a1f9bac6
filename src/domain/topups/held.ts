/** What the kill-switch held back: the operator credits or refunds it, invoice by invoice. */
import { fail } from '../../kernel/fail.ts';
import { showId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Action } from '../../spec/actions.ts';
import { isLeaving } from '../../store/account-deletion.ts';
import { type DepositRow, depositsOf, saveDeposit } from '../../store/deposits.ts';
import { noteRefund } from '../../store/desk-topups.ts';
import { lockTopup, type TopupRow } from '../../store/topups.ts';
import type { Actor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { requireLine } from '../rules/line.ts';
import { inBlock } from './deposit.ts';
import { settle } from './settle.ts';

/** The invoice as it is now, and what was decided of, in the coin's smallest unit. */
export type Resolved = TopupRow & { readonly resolvedUnits: bigint };

/**
 * Credits the held payments of an invoice, whatever the switch says; one that left its block meanwhile is
 * credited when it returns. Refuses with `not_found` when nothing is held there, and with `conflict_state` where the
 * customer is gone.
 */
export async function releaseTopup(service: Service, actor: Actor, topupId: string): Promise<Resolved> {
  return await resolveHeld(service, actor, topupId, {
    meant: (deposit) => deposit.held,
    apply: (deposit) => ({ ...deposit, held: false }),
    needsCustomer: true,
    // What it credits is audited as any credit.
    audit: null,
  });
}

/**
 * Notes that the held payments of an invoice were paid back outside this system: they are never credited.
 * Refuses with `not_found` when nothing is held there that is in a block. `note` is one line for the books.
 */
export async function refundTopup(
  service: Service,
  actor: Actor,
  topupId: string,
  note: string | null = null,
): Promise<Resolved> {
  const line = note === null ? null : requireLine('note', note);
  return await resolveHeld(service, actor, topupId, {
    // What is not on the chain any more must not be paid back.
    meant: (deposit) => deposit.held && inBlock(deposit.state),
    apply: (deposit, now) => ({ ...deposit, held: false, refunded_at: now }),
    needsCustomer: false,
    audit: 'topup.refund',
    note: line,
  });
}

async function resolveHeld(
  service: Service,
  actor: Actor,
  topupId: string,
  resolution: {
    readonly meant: (deposit: DepositRow) => boolean;
    readonly apply: (deposit: DepositRow, now: Date) => DepositRow;
    readonly needsCustomer: boolean;
    readonly audit: Action | null;
    readonly note?: string | null;
  },
): Promise<Resolved> {
  const resolved = await service.db.transaction(async (tx: Sql) => {
    const topup = (await lockTopup(tx, topupId)) ?? fail('not_found');
    const now = service.clock.now();
    const before = await depositsOf(tx, topupId);
    if (!before.some(resolution.meant)) fail('not_found', {}, 'Nothing is held on this top-up.');
    if (resolution.needsCustomer && (await isLeaving(tx, topup.customer_id))) {
      const why = 'This account is deleted: send the payment back, then note it with `topups refund`.';
      fail('conflict_state', {}, why);
    }
    const { meant, apply } = resolution;
    const deposits = before.map((deposit) => (meant(deposit) ? apply(deposit, now) : deposit));
    for (const [i, deposit] of deposits.entries()) if (deposit !== before[i]) await saveDeposit(tx, deposit);
    if (resolution.note) await noteRefund(tx, topupId, now, resolution.note);
    const settled = await settle(tx, {
      topup,
      deposits,
      before,
      mayCredit: true,
      actor,
      now,
      keys: service.keys,
    });
    const { customer_id: customerId } = topup;
    const entry = { actor, resource: showId('topup', topupId), customerId };
    if (resolution.audit) await recordAudit(tx, { ...entry, action: resolution.audit }, now);
    const decided = before.filter(meant);
    return { ...settled, resolvedUnits: decided.reduce((sum, deposit) => sum + deposit.amount_units, 0n) };
  });
  service.wake();
  return resolved;
}

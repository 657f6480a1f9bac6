/** What the kill-switch held back: the operator credits or refunds it, invoice by invoice. */
import { fail } from '../../kernel/fail.ts';
import { showId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Action } from '../../spec/actions.ts';
import { type DepositRow, depositsOf, saveDeposit } from '../../store/deposits.ts';
import { lockTopup, type TopupRow } from '../../store/topups.ts';
import type { Actor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { inBlock } from './deposit.ts';
import { settle } from './settle.ts';

/**
 * Credits the held payments of an invoice, whatever the switch says; one that left its block meanwhile is
 * credited when it returns. Refuses with `not_found` when nothing is held there.
 */
export async function releaseTopup(service: Service, actor: Actor, topupId: string): Promise<TopupRow> {
  return await resolveHeld(service, actor, topupId, {
    meant: (deposit) => deposit.held,
    apply: (deposit) => ({ ...deposit, held: false }),
    // What it credits is audited as any credit.
    audit: null,
  });
}

/**
 * Notes that the held payments of an invoice were paid back outside this system: they are never credited.
 * Refuses with `not_found` when nothing is held there that is in a block.
 */
export async function refundTopup(service: Service, actor: Actor, topupId: string): Promise<TopupRow> {
  return await resolveHeld(service, actor, topupId, {
    // What is not on the chain any more must not be paid back.
    meant: (deposit) => deposit.held && inBlock(deposit.state),
    apply: (deposit, now) => ({ ...deposit, held: false, refunded_at: now }),
    audit: 'topup.refund',
  });
}

async function resolveHeld(
  service: Service,
  actor: Actor,
  topupId: string,
  resolution: {
    readonly meant: (deposit: DepositRow) => boolean;
    readonly apply: (deposit: DepositRow, now: Date) => DepositRow;
    readonly audit: Action | null;
  },
): Promise<TopupRow> {
  const resolved = await service.db.transaction(async (tx: Sql) => {
    const topup = (await lockTopup(tx, topupId)) ?? fail('not_found');
    const now = service.clock.now();
    const before = await depositsOf(tx, topupId);
    if (!before.some(resolution.meant)) fail('not_found', {}, 'Nothing is held on this top-up.');
    const { meant, apply } = resolution;
    const deposits = before.map((deposit) => (meant(deposit) ? apply(deposit, now) : deposit));
    for (const [i, deposit] of deposits.entries()) if (deposit !== before[i]) await saveDeposit(tx, deposit);
    const settled = await settle(tx, { topup, deposits, before, mayCredit: true, actor, now });
    const { customer_id: customerId } = topup;
    const entry = { actor, resource: showId('topup', topupId), customerId };
    if (resolution.audit) await recordAudit(tx, { ...entry, action: resolution.audit }, now);
    return settled;
  });
  service.wake();
  return resolved;
}

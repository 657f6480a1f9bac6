/**
 * Resolves withheld payments: the operator credits or refunds them per invoice. refund.ts records refunds.
 */
import { fail } from '../../../kernel/fail.ts';
import { formatId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import type { Action } from '../../../spec/actions.ts';
import { isDeletingCustomer } from '../../../store/customers/deletion.ts';
import { type DepositRow, listDeposits, saveDeposits } from '../../../store/topups/deposits.ts';
import { lockTopup, type TopupRow } from '../../../store/topups/topups.ts';
import type { Actor, Service } from '../../context.ts';
import { recordAudit } from '../../record.ts';
import { settle } from './settle.ts';

/** The current invoice, and the resolved amount in the coin's smallest unit. */
export type ResolvedTopup = TopupRow & {
  readonly resolvedUnits: bigint;
  readonly resolvedKeys: readonly string[];
};

/** How to resolve the withheld payments of an invoice. */
export interface Resolution {
  /** Selects the payments to resolve, in any state. */
  readonly selects: (deposit: DepositRow) => boolean;
  readonly apply: (deposit: DepositRow) => DepositRow;
  /** Null if the effects have their own audit events. */
  readonly audit: Action | null;
  readonly now: Date;
}

/**
 * Credits the withheld payments of an invoice, regardless of the switch. A payment that left its block is
 * credited when it returns. Fails with `not_found` if nothing is withheld, and with `conflict_state` if the
 * customer is deleted.
 */
export async function releaseTopup(service: Service, actor: Actor, topupId: string): Promise<ResolvedTopup> {
  const released = await service.db.transaction(async (tx) => {
    const topup = (await lockTopup(tx, topupId)) ?? fail('not_found');
    const hasWithheld = (await listDeposits(tx, topupId)).some((deposit) => deposit.held);
    if (hasWithheld && (await isDeletingCustomer(tx, topup.customer_id))) {
      const message = 'This account is deleted. Send the payment back and record it with `topups refund`.';
      fail('conflict_state', {}, message);
    }
    return await resolveWithheld(
      tx,
      service,
      { actor, topup },
      {
        selects: (deposit) => deposit.held,
        apply: (deposit) => ({ ...deposit, held: false }),
        // The credits have their own audit events.
        audit: null,
        now: service.clock.now(),
      },
    );
  });
  service.wake();
  return released;
}

/** Resolves payments of a locked invoice. Fails with `not_found` if none is selected. */
export async function resolveWithheld(
  tx: Sql,
  service: Pick<Service, 'keys' | 'settings'>,
  { actor, topup }: { readonly actor: Actor; readonly topup: TopupRow },
  { selects, apply, audit, now }: Resolution,
): Promise<ResolvedTopup> {
  const before = await listDeposits(tx, topup.id);
  const decided = before.filter(selects);
  if (decided.length === 0) fail('not_found', {}, 'No payment of this top-up is withheld.');
  const deposits = before.map((deposit) => (selects(deposit) ? apply(deposit) : deposit));
  await saveDeposits(
    tx,
    deposits.filter((deposit, i) => deposit !== before[i]),
  );
  const settled = await settle(tx, {
    topup,
    deposits,
    before,
    mayCredit: true,
    actor,
    now,
    service,
  });
  const entry = { actor, resource: formatId('topup', topup.id), customerId: topup.customer_id };
  if (audit) await recordAudit(tx, { ...entry, action: audit }, now);
  const resolvedUnits = decided.reduce((sum, deposit) => sum + deposit.amount_units, 0n);
  return { ...settled, resolvedUnits, resolvedKeys: decided.map((deposit) => deposit.key) };
}

/** What the kill-switch held back: the operator credits or refunds it, invoice by invoice. How it is refunded is in refund.ts. */
import { fail } from '../../kernel/fail.ts';
import { formatId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Action } from '../../spec/actions.ts';
import { isDeletingCustomer } from '../../store/account-deletion.ts';
import { type DepositRow, listDeposits, saveDeposits } from '../../store/deposits.ts';
import { lockTopup, type TopupRow } from '../../store/topups.ts';
import type { Actor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { settle } from './settle.ts';

/** The invoice as it is now, and what was decided of, in the coin's smallest unit. */
export type ResolvedTopup = TopupRow & {
  readonly resolvedUnits: bigint;
  readonly resolvedKeys: readonly string[];
};

/** What is decided of the held payments of one invoice. */
export interface Resolution {
  /** Of which of them; the invoice's, in whatever state they are. */
  readonly selects: (deposit: DepositRow) => boolean;
  readonly apply: (deposit: DepositRow) => DepositRow;
  /** Null: what comes of it is audited. */
  readonly audit: Action | null;
  readonly now: Date;
}

/**
 * Credits the held payments of an invoice, whatever the switch says; one that left its block meanwhile is
 * credited when it returns. Refuses with `not_found` when nothing is held there, and with `conflict_state` where the
 * customer is gone.
 */
export async function releaseTopup(service: Service, actor: Actor, topupId: string): Promise<ResolvedTopup> {
  const released = await service.db.transaction(async (tx) => {
    const topup = (await lockTopup(tx, topupId)) ?? fail('not_found');
    const hasWithheld = (await listDeposits(tx, topupId)).some((deposit) => deposit.held);
    if (hasWithheld && (await isDeletingCustomer(tx, topup.customer_id))) {
      const message = 'This account is deleted: send the payment back, and note it with `topups refund`.';
      fail('conflict_state', {}, message);
    }
    return await resolveWithheld(
      tx,
      service,
      { actor, topup },
      {
        selects: (deposit) => deposit.held,
        apply: (deposit) => ({ ...deposit, held: false }),
        // What it credits is audited as any credit.
        audit: null,
        now: service.clock.now(),
      },
    );
  });
  service.wake();
  return released;
}

/** Of an invoice that is locked. Refuses with `not_found` when none of its payments is meant. */
export async function resolveWithheld(
  tx: Sql,
  service: Pick<Service, 'keys'>,
  { actor, topup }: { readonly actor: Actor; readonly topup: TopupRow },
  { selects, apply, audit, now }: Resolution,
): Promise<ResolvedTopup> {
  const before = await listDeposits(tx, topup.id);
  const decided = before.filter(selects);
  if (decided.length === 0) fail('not_found', {}, 'Nothing is held on this top-up.');
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
    keys: service.keys,
  });
  const entry = { actor, resource: formatId('topup', topup.id), customerId: topup.customer_id };
  if (audit) await recordAudit(tx, { ...entry, action: audit }, now);
  const resolvedUnits = decided.reduce((sum, deposit) => sum + deposit.amount_units, 0n);
  return { ...settled, resolvedUnits, resolvedKeys: decided.map((deposit) => deposit.key) };
}

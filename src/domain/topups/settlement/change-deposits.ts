/** Changes and settles the payments of one invoice in one commit, under the lease of its coin. */
import { LeaseLost } from '../../../kernel/fail.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { holdsCoinLease } from '../../../store/topups/coins.ts';
import { type DepositRow, listDeposits, saveDeposits } from '../../../store/topups/deposits.ts';
import { lockTopup, type TopupRow } from '../../../store/topups/topups.ts';
import type { Service } from '../../context.ts';
import { systemActor } from '../../record.ts';
import { isSwitchOn } from '../../rules/switches.ts';
import { settle } from './settle.ts';

/** The lease of a reader, and the business time up to which the chain was completely read before. */
export interface ReadLease {
  readonly leaseId: string;
  readonly readAt: Date | null;
}

/** Locks an invoice while the coin's lease is ours; throws LeaseLost otherwise. */
export async function lockLeasedTopup(
  tx: Sql,
  { coin, id }: Pick<TopupRow, 'coin' | 'id'>,
  reading: ReadLease | null,
): Promise<TopupRow | undefined> {
  if (reading !== null && !(await holdsCoinLease(tx, coin, reading.leaseId))) throw new LeaseLost();
  return await lockTopup(tx, id);
}

/** Maps an invoice's payments to the new ones: all existing payments, then additions. */
export type DepositChange = (
  topup: TopupRow,
  before: readonly DepositRow[],
  now: Date,
) => readonly DepositRow[];

/** Returns false if nothing changed. */
export async function changeDeposits(
  service: Service,
  of: Pick<TopupRow, 'coin' | 'id'>,
  reading: ReadLease | null,
  change: DepositChange,
): Promise<boolean> {
  return await service.db.transaction(async (tx) => {
    const topup = await lockLeasedTopup(tx, of, reading);
    if (!topup) return false;
    const now = service.clock.now();
    const before = await listDeposits(tx, topup.id);
    const deposits = change(topup, before, now);
    const other = deposits.filter((deposit, i) => deposit !== before[i]);
    if (other.length === 0) return false;
    await saveDeposits(tx, other);
    const mayCredit = await isSwitchOn(tx, 'topup-credit');
    await settle(tx, {
      topup,
      deposits,
      before,
      mayCredit,
      actor: systemActor(now),
      now,
      service,
    });
    return true;
  });
}

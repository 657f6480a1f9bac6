import { formatId } from '../../kernel/ids.ts';
import type { KeyRing } from '../../kernel/secrets.ts';
import type { Sql } from '../../kernel/sql.ts';
import { readBalance } from '../../store/ledger/ledger.ts';
import type { DepositRow } from '../../store/topups/deposits.ts';
import type { TopupRow } from '../../store/topups/topups.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import { sumCents } from './credits.ts';

/**
 * Mails the customer about a credit, in its transaction. Only the first credit of each payment is mailed,
 * even if the payment leaves the chain and returns.
 */
export async function notifyCredit(
  tx: Sql,
  keys: KeyRing,
  invoice: { readonly before: TopupRow; readonly after: TopupRow; readonly changed: readonly DepositRow[] },
  now: Date,
): Promise<void> {
  const { before, after } = invoice;
  const first = invoice.changed.filter(
    (deposit) => deposit.credits === 1 && (deposit.credited_cents ?? 0n) > 0n,
  );
  const keysOf = first.map((deposit) => deposit.key).sort();
  if (keysOf.length === 0) return;
  const bonusCents = after.bonus_paid_cents - before.bonus_paid_cents;
  const data = {
    topup: formatId('topup', after.id),
    coin: after.coin,
    creditedCents: sumCents(first),
    bonusCents: bonusCents > 0n ? bonusCents : 0n,
    balanceCents: await readBalance(tx, after.customer_id),
    creditedAt: now,
  };
  const cause = `deposit:${after.coin}:${keysOf[0]}`;
  await enqueueMail(tx, { customerId: after.customer_id, kind: 'topup_credited', cause, data }, now, keys);
}

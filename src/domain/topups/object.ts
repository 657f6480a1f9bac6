/** A top-up as each surface shows it. */
import { formatId } from '../../kernel/ids.ts';
import { centsToUsd, formatUnits } from '../../kernel/money.ts';
import { formatRfc3339, formatSessionTime } from '../../kernel/time.ts';
import { getCoin as coinOf } from '../../spec/coins.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { Topup } from '../../spec/schemas/topup.ts';
import { type SessionTopupStatus, sessionTopupStatus } from '../../spec/states.ts';
import type { TopupRow } from '../../store/topups.ts';

/** The REST contract's form. `txids` are the transactions on chain or on their way, oldest first; the first so many are told. */
export function topupObject(row: TopupRow, txids: readonly string[]): Topup {
  return {
    id: formatId('topup', row.id),
    object: 'topup',
    status: row.status,
    coin: row.coin,
    network: coinOf(row.coin).network,
    amount_usd: centsToUsd(row.amount_cents),
    bonus_usd: centsToUsd(row.credited_cents > 0n ? row.bonus_paid_cents : row.bonus_cents),
    deposit_address: row.deposit_address,
    deposit_amount: depositAmount(row),
    payment_uri: row.deposit_uri,
    rate_usd: row.rate_usd,
    expires_at: formatRfc3339(row.expires_at),
    confirmations: row.confirmations,
    required_confirmations: row.required_confirmations,
    txids: [...new Set(txids)].slice(0, LIMITS.topupTxidsMax),
    credited_usd: centsToUsd(row.credited_cents),
    credit_held: row.credit_held,
    created_at: formatRfc3339(row.created_at),
  };
}

/** What the session surface's status poll answers (SPEC "Top-up invoice, as returned by the status poll"). */
export interface TopupView {
  readonly status: SessionTopupStatus;
  readonly deposit_address: string;
  readonly deposit_amount: string;
  readonly expires_at: string;
}

export function topupView(row: TopupRow): TopupView {
  return {
    status: sessionTopupStatus({
      status: row.status,
      cancelled: row.cancelled_at !== null,
      withheld: row.credit_held,
    }),
    deposit_address: row.deposit_address,
    deposit_amount: depositAmount(row),
    expires_at: formatSessionTime(row.expires_at),
  };
}

/** What billing tab and payment view say: a held payment is an `error` there, with instructions (SPEC, kill-switch). */
export function shownTopupStatus(row: TopupRow): SessionTopupStatus {
  return row.credit_held ? 'error' : topupView(row).status;
}

function depositAmount(row: TopupRow): string {
  return formatUnits(row.deposit_units, coinOf(row.coin).decimals);
}

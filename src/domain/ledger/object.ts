/** Returns a ledger entry in the REST shape. */
import { formatId } from '../../kernel/ids.ts';
import { centsToUsd } from '../../kernel/money.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { LedgerEntry } from '../../spec/schemas/balance.ts';

export function ledgerEntryObject(entry: {
  readonly id: string;
  readonly type: LedgerEntry['type'];
  /** Signed: negative for a debit. */
  readonly amountCents: bigint;
  readonly balanceAfterCents: bigint;
  readonly resource: { readonly kind: 'server' | 'topup'; readonly id: string } | null;
  readonly description: string;
  readonly createdAt: Date;
}): LedgerEntry {
  return {
    id: formatId('ledgerEntry', entry.id),
    object: 'ledger_entry',
    type: entry.type,
    amount_usd: centsToUsd(entry.amountCents),
    balance_after_usd: centsToUsd(entry.balanceAfterCents),
    resource: entry.resource ? formatId(entry.resource.kind, entry.resource.id) : null,
    description: entry.description,
    created_at: formatRfc3339(entry.createdAt),
  };
}

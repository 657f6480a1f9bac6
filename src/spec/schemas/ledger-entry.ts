/** A transfer as its customer sees it (DECISIONS "Ledger entry (B)"). */
import { type Static, Type } from 'typebox';
import { Id, nullable, oneOf, Time, Usd } from './parts.ts';

export const LEDGER_TYPES = ['charge', 'topup', 'bonus', 'refund', 'adjustment', 'reversal'] as const;

export const LedgerEntry = Type.Object({
  id: Id('led_'),
  object: Type.Literal('ledger_entry'),
  type: oneOf(LEDGER_TYPES),
  amount_usd: Usd,
  balance_after_usd: Usd,
  resource: nullable(Type.String()),
  description: Type.String(),
  created_at: Time,
});
export type LedgerEntry = Static<typeof LedgerEntry>;

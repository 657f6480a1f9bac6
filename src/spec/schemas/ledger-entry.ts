/** Ledger entry (DECISIONS "Ledger entry (B)"). */
import { type Static, Type } from 'typebox';
import { nullable } from './nullable.ts';

export const LedgerEntry = Type.Object({
  id: Type.String(),
  object: Type.Literal('ledger_entry'),
  type: Type.Union([
    Type.Literal('charge'),
    Type.Literal('topup'),
    Type.Literal('bonus'),
    Type.Literal('refund'),
    Type.Literal('adjustment'),
    Type.Literal('reversal'),
  ]),
  amount_usd: Type.Number(),
  balance_after_usd: Type.Number(),
  resource: nullable(Type.String()),
  description: Type.String(),
  created_at: Type.String(),
});
export type LedgerEntry = Static<typeof LedgerEntry>;

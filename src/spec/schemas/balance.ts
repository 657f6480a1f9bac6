/**
 * Balance (SPEC "Balance", DECISIONS "Balance object"), and a transfer as its customer sees it (DECISIONS
 * "Ledger entry (B)").
 */
import { type Static, Type } from 'typebox';
import { Id, nullable, oneOf, Time, Usd } from './parts.ts';

export const Balance = Type.Object({
  object: Type.Literal('balance'),
  usd: Usd,
  as_of: Time,
  runway_until: nullable(
    Type.String({
      format: 'date',
      examples: ['2026-02-28'],
      description: 'The earliest end of a prepaid cycle among running servers; null if none is running.',
    }),
  ),
  active_servers: Type.Integer({ description: 'Running servers in a prepaid cycle.' }),
  daily_cost_usd: Type.Number({
    description: 'Daily cost of the running servers, for comparison. Nothing is charged daily.',
  }),
  low_balance_at: nullable(
    Type.String({
      format: 'date-time',
      description: 'When the low-balance warning is sent: 7 days before the runway ends.',
    }),
  ),
});
export type Balance = Static<typeof Balance>;

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

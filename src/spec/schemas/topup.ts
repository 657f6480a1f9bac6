/** Top-up (DECISIONS "B body"): an invoice to be paid in a coin, and what became of it. */
import { type Static, Type } from 'typebox';
import { COIN_CODES } from '../coins.ts';
import { TOPUP_STATUSES } from '../states.ts';
import { oneOf } from './parts.ts';

export const Topup = Type.Object({
  id: Type.String(),
  object: Type.Literal('topup'),
  status: oneOf(TOPUP_STATUSES),
  coin: oneOf(COIN_CODES),
  /** Always shown beside the coin: a payment on another network is lost. */
  network: Type.String(),
  amount_usd: Type.Number(),
  /** What `amount_usd` earns; once something is credited, what was paid. */
  bonus_usd: Type.Number(),
  deposit_address: Type.String(),
  /** Whole coins, decimal. */
  deposit_amount: Type.String(),
  payment_uri: Type.String(),
  /** The locked rate: US dollars for one whole coin, decimal. */
  rate_usd: Type.String(),
  expires_at: Type.String(),
  /** Of the least confirmed payment. */
  confirmations: Type.Integer(),
  required_confirmations: Type.Integer(),
  txids: Type.Array(Type.String()),
  /** Without the bonus. */
  credited_usd: Type.Number(),
  /** Confirmed, but kept back by the operator's kill-switch. */
  credit_held: Type.Boolean(),
  created_at: Type.String(),
});
export type Topup = Static<typeof Topup>;

/** Top-up (DECISIONS "B body"): an invoice to pay in a coin, with its outcome. */
import { type Static, Type } from 'typebox';
import { COIN_CODES } from '../coins.ts';
import { LIMITS } from '../limits.ts';
import { TOPUP_STATUSES } from '../states.ts';
import { Id, oneOf, Time, Usd } from './parts.ts';

export const Topup = Type.Object({
  id: Id('top_'),
  object: Type.Literal('topup'),
  status: oneOf(TOPUP_STATUSES),
  coin: oneOf(COIN_CODES),
  network: Type.String({ description: 'A payment on another network is lost.' }),
  amount_usd: Usd,
  bonus_usd: Type.Number({
    description: 'The bonus for `amount_usd`; after a credit, the bonus paid.',
  }),
  deposit_address: Type.String(),
  deposit_amount: Type.String({ description: 'In whole coins, decimal.', examples: ['0.002'] }),
  payment_uri: Type.String({ description: 'For wallets; on some networks only the address.' }),
  rate_usd: Type.String({ description: 'The locked rate: US dollars for one whole coin, decimal.' }),
  expires_at: Time,
  confirmations: Type.Integer({ description: 'Confirmations of the least confirmed payment.' }),
  required_confirmations: Type.Integer(),
  txids: Type.Array(Type.String(), {
    description: `Transactions that pay the invoice, oldest first; at most ${LIMITS.topupTxidsMax}.`,
  }),
  credited_usd: Type.Number({ description: 'The amount credited to the balance, without the bonus.' }),
  reversed_usd: Type.Number({
    description:
      'The amount, bonus included, that was taken back because a payment left the chain and that has not ' +
      'been credited again.',
  }),
  credit_held: Type.Boolean({
    description: 'Whether the payment is confirmed but withheld by the operator.',
  }),
  created_at: Time,
});
export type Topup = Static<typeof Topup>;

const usd = (cents: bigint) => Number(cents) / 100;

export const CreateTopup = Type.Object(
  {
    coin: oneOf(COIN_CODES),
    amount_usd: Type.Number({
      minimum: usd(LIMITS.topupMinCents),
      maximum: usd(LIMITS.topupMaxCents),
      description: 'US dollars, at most two decimals.',
    }),
  },
  { additionalProperties: false },
);
export type CreateTopup = Static<typeof CreateTopup>;

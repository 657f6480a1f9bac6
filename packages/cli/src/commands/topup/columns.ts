import type { Topup } from '@skerry/sdk';
import { type Column, time, usd } from '../../output/columns.ts';

export const TOPUP_COLUMNS: readonly Column<Topup>[] = [
  { name: 'id', of: (topup) => topup.id },
  { name: 'status', of: (topup) => topup.status },
  { name: 'coin', of: (topup) => topup.coin },
  { name: 'network', of: (topup) => topup.network, hidden: true },
  { name: 'amount_usd', of: (topup) => usd(topup.amount_usd) },
  { name: 'bonus_usd', of: (topup) => usd(topup.bonus_usd), hidden: true },
  { name: 'credited_usd', of: (topup) => usd(topup.credited_usd) },
  { name: 'deposit_address', of: (topup) => topup.deposit_address, hidden: true },
  { name: 'deposit_amount', of: (topup) => topup.deposit_amount, hidden: true },
  { name: 'payment_uri', of: (topup) => topup.payment_uri, hidden: true },
  { name: 'rate_usd', of: (topup) => topup.rate_usd, hidden: true },
  { name: 'confirmations', of: (topup) => topup.confirmations, hidden: true },
  { name: 'required_confirmations', of: (topup) => topup.required_confirmations, hidden: true },
  { name: 'txids', of: (topup) => topup.txids, hidden: true },
  { name: 'credit_held', of: (topup) => topup.credit_held, hidden: true },
  { name: 'expires_at', of: (topup) => time(topup.expires_at), hidden: true },
  { name: 'created_at', of: (topup) => time(topup.created_at), hidden: true },
];

import type { Topup } from '@skerry/sdk';
import { type Column, formatTime, formatUsd } from '../../output/columns.ts';

export const TOPUP_COLUMNS: readonly Column<Topup>[] = [
  { name: 'id', value: (topup) => topup.id },
  { name: 'status', value: (topup) => topup.status },
  { name: 'coin', value: (topup) => topup.coin },
  { name: 'network', value: (topup) => topup.network, hidden: true },
  { name: 'amount_usd', value: (topup) => formatUsd(topup.amount_usd) },
  { name: 'bonus_usd', value: (topup) => formatUsd(topup.bonus_usd), hidden: true },
  { name: 'credited_usd', value: (topup) => formatUsd(topup.credited_usd) },
  { name: 'deposit_address', value: (topup) => topup.deposit_address, hidden: true },
  { name: 'deposit_amount', value: (topup) => topup.deposit_amount, hidden: true },
  { name: 'payment_uri', value: (topup) => topup.payment_uri, hidden: true },
  { name: 'rate_usd', value: (topup) => topup.rate_usd, hidden: true },
  { name: 'confirmations', value: (topup) => topup.confirmations, hidden: true },
  { name: 'required_confirmations', value: (topup) => topup.required_confirmations, hidden: true },
  { name: 'txids', value: (topup) => topup.txids, hidden: true },
  { name: 'credit_held', value: (topup) => topup.credit_held, hidden: true },
  { name: 'expires_at', value: (topup) => formatTime(topup.expires_at), hidden: true },
  { name: 'created_at', value: (topup) => formatTime(topup.created_at), hidden: true },
];

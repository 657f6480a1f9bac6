/** Display names of coins, and the unit as wallets show it. Two networks share the unit USDT. */
import { type CoinCode, isCoinCode } from '../../spec/coins.ts';
import type { SessionTopupStatus } from '../../spec/states.ts';
import { statusBadge } from '../parts/components.ts';
import { type Html, html } from '../parts/html.ts';

const COIN_NAMES: Record<CoinCode, readonly [name: string, unit: string]> = {
  BTC: ['Bitcoin', 'BTC'],
  XMR: ['Monero', 'XMR'],
  ETH: ['Ether', 'ETH'],
  USDT: ['Tether', 'USDT'],
  USDTTRC: ['Tether', 'USDT'],
  LTC: ['Litecoin', 'LTC'],
  TRX: ['Tron', 'TRX'],
  SOL: ['Solana', 'SOL'],
};

export function coinName(code: string): string {
  return isCoinCode(code) ? COIN_NAMES[code][0] : code;
}

/** Returns the unit; `USDTTRC` is also `USDT`. */
export function coinUnit(code: string): string {
  return isCoinCode(code) ? COIN_NAMES[code][1] : code;
}

/** Returns the coin's label. The network distinguishes coins with the same name. */
export function coinLabel(coin: { readonly code: CoinCode; readonly network: string }): Html {
  const network = html`<span class="soft">on ${coin.network}</span>`;
  return html`<strong>${coinName(coin.code)}</strong> (${coinUnit(coin.code)})<br>${network}`;
}

const TOPUP_STATUS_BADGES: Record<
  SessionTopupStatus,
  readonly [word: string, tone: Parameters<typeof statusBadge>[1]]
> = {
  waiting: ['waiting for payment', 'off'],
  confirming: ['confirming', 'busy'],
  confirmed: ['credited', 'good'],
  expired: ['expired', 'off'],
  cancelled: ['canceled', 'off'],
  // SPEC: the row of a withheld payment shows `error`.
  error: ['error', 'bad'],
};

export function topupStatusBadge(status: SessionTopupStatus): Html {
  return statusBadge(...TOPUP_STATUS_BADGES[status]);
}

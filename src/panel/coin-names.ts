/** What coins are called, and what their wallets call the unit: on two networks that is the same word. */
import type { CoinCode } from '../spec/coins.ts';
import type { SessionTopupStatus } from '../spec/states.ts';
import { statusBadge } from './components.ts';
import { type Html, html } from './html.ts';

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

export function coinName(code: CoinCode): string {
  return COIN_NAMES[code][0];
}

/** `USDT` for `USDTTRC`, too. */
export function coinUnit(code: CoinCode): string {
  return COIN_NAMES[code][1];
}

/** Where there is one name for two coins, the network tells them apart. */
export function coinLabel(coin: { readonly code: CoinCode; readonly network: string }): Html {
  return html`<strong>${coinName(coin.code)}</strong> (${coinUnit(coin.code)})<br><span class="soft">on ${coin.network}</span>`;
}

const TOPUP_STATUS_BADGES: Record<
  SessionTopupStatus,
  readonly [word: string, tone: Parameters<typeof statusBadge>[1]]
> = {
  waiting: ['waiting', 'off'],
  confirming: ['confirming', 'busy'],
  confirmed: ['credited', 'good'],
  expired: ['expired', 'off'],
  cancelled: ['cancelled', 'off'],
  error: ['error', 'bad'],
};

export function topupStatusBadge(status: SessionTopupStatus): Html {
  return statusBadge(...TOPUP_STATUS_BADGES[status]);
}

/** What coins are called, and what their wallets call the unit: on two networks that is the same word. */
import type { CoinCode } from '../spec/coins.ts';
import type { SessionTopupStatus } from '../spec/states.ts';
import { type Html, html } from './html.ts';
import { state } from './parts.ts';

const NAMES: Record<CoinCode, readonly [name: string, unit: string]> = {
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
  return NAMES[code][0];
}

/** `USDT` for `USDTTRC`, too. */
export function coinUnit(code: CoinCode): string {
  return NAMES[code][1];
}

/** Where there is one name for two coins, the network tells them apart. */
export function coinChoice(coin: { readonly code: CoinCode; readonly network: string }): Html {
  return html`<strong>${coinName(coin.code)}</strong> (${coinUnit(coin.code)})<br><span class="soft">on ${coin.network}</span>`;
}

const STATUSES: Record<SessionTopupStatus, readonly [word: string, tone: Parameters<typeof state>[1]]> = {
  waiting: ['waiting', 'off'],
  confirming: ['confirming', 'busy'],
  confirmed: ['credited', 'good'],
  expired: ['expired', 'off'],
  cancelled: ['cancelled', 'off'],
  error: ['error', 'bad'],
};

export function topupState(status: SessionTopupStatus): Html {
  return state(...STATUSES[status]);
}

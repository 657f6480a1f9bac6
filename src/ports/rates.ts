/** Prices of coins and of the dollar. Decimal strings, so that no digit is lost. */
export interface Rates {
  /** US dollars for one whole coin, e.g. `61234.5`. */
  usdPerCoin(coin: string): Promise<string>;
  /** Euros for one US dollar, e.g. `0.92`; the last known one when its source is silent. Shown, never charged. */
  eurPerUsd(): Promise<string>;
}

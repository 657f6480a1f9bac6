/** How amounts read on every page: money, counts, sizes, and cycles. */

/** Created once: creating a formatter takes longer than rendering a row. */
const NUMBER = new Intl.NumberFormat('en-US');
const TWO_DECIMALS = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** `8,192`. */
export function formatNumber(amount: number): string {
  return NUMBER.format(amount);
}

/** `1 rule`, `1,200 rules`. */
export function formatCount(amount: number, noun: string): string {
  return `${formatNumber(amount)} ${noun}${amount === 1 ? '' : 's'}`;
}

/** Formats US dollars, `$12.50`, with the sign in front. */
export function usd(amount: number): string {
  return `${amount < 0 ? '−' : ''}$${TWO_DECIMALS.format(Math.abs(amount))}`;
}

/** Formats an exact price, such as an exchange rate: `60000` is `$60,000.00`, `0.0853` is `$0.0853`. */
export function exactUsd(decimal: string): string {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal) ?? [];
  if (sign === undefined) return `$${decimal}`;
  return `${sign && '−'}$${NUMBER.format(BigInt(whole))}.${fraction.padEnd(2, '0')}`;
}

/** The value of a field in US dollars: `1234.50`. */
export function usdValue(amount: number): string {
  return amount.toFixed(2);
}

/** Formats GiB: `1,000 GiB`. The space does not break. */
export function formatGib(gib: number): string {
  return `${NUMBER.format(gib)}\u00a0GiB`;
}

const MIB_BYTES = 1024 ** 2;

/** Formats a size in bytes, rounded down: `1,536 MiB`. */
export function formatMib(bytes: number): string {
  return `${formatNumber(Math.floor(bytes / MIB_BYTES))} MiB`;
}

/** Formats MiB: `512 MiB`, `4 GiB`, `1.5 GiB`. */
export function formatMemory(mib: number): string {
  return mib < 1024 ? `${NUMBER.format(mib)}\u00a0MiB` : formatGib(Math.round((mib / 1024) * 10) / 10);
}

/** Formats TiB: `20 TiB`. */
export function formatTib(tib: number): string {
  return `${NUMBER.format(tib)}\u00a0TiB`;
}

/** `1 month`, `3 months`. */
export function formatMonths(months: number): string {
  return formatCount(months, 'month');
}

/** Formats a share as a percentage that never rounds an outage away: 0.99999 is `99.99%`. */
export function formatShare(share: number): string {
  return `${(Math.floor(share * 10_000) / 100).toFixed(2).replace(/\.?0+$/, '')}%`;
}

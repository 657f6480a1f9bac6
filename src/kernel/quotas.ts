/** The operator's quotas, which override the defaults: `servers=100,openTopups=5`. */
import { QUOTAS } from '../spec/limits.ts';

export type Quotas = Readonly<Record<keyof typeof QUOTAS, number>>;

/** Throws a RangeError that states the format. */
export function parseQuotas(text: string): Quotas {
  const quotas: Record<string, number> = { ...QUOTAS };
  for (const part of text.split(',').filter((piece) => piece.trim() !== '')) {
    const [name = '', count = ''] = part.split('=').map((piece) => piece.trim());
    if (!Object.hasOwn(QUOTAS, name) || !/^\d{1,7}$/.test(count)) {
      throw new RangeError(
        `must be name=count pairs, separated by commas; the names are ${Object.keys(QUOTAS).join(', ')}`,
      );
    }
    quotas[name] = Number(count);
  }
  return quotas as Quotas;
}

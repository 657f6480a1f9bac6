/** The operator's own quotas over those of the table: `servers=100,openTopups=5`. */
import { QUOTAS } from '../spec/limits.ts';

export type Quotas = Readonly<Record<keyof typeof QUOTAS, number>>;

/** Throws a RangeError that says what is allowed. */
export function parseQuotas(text: string): Quotas {
  const quotas: Record<string, number> = { ...QUOTAS };
  for (const part of text.split(',').filter((piece) => piece.trim() !== '')) {
    const [name = '', count = ''] = part.split('=').map((piece) => piece.trim());
    if (!Object.hasOwn(QUOTAS, name) || !/^\d{1,7}$/.test(count)) {
      throw new RangeError(`give name=count of ${Object.keys(QUOTAS).join(', ')}, separated by commas`);
    }
    quotas[name] = Number(count);
  }
  return quotas as Quotas;
}

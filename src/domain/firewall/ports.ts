/** The port of a rule as text: one port, a comma-separated list, or a range `<low>-<high>`. */
import type { ErrorItem } from '../../kernel/fail.ts';
import { PORT_PATTERN } from '../../spec/schemas/firewall.ts';

const PORT_MAX = 65_535;
const PORT_FORMAT = new RegExp(PORT_PATTERN);

/** Returns the inclusive ranges of a valid text. */
export function portRanges(text: string): [low: number, high: number][] {
  return text.split(',').map((part) => {
    const [low = 0, high = low] = part.split('-').map(Number);
    return [low, high];
  });
}

/** Returns the error of a port text; null if it is valid. */
export function portError(text: string, field: string): ErrorItem | null {
  if (!PORT_FORMAT.test(text)) return { field, issue: 'invalid_format' };
  const ranges = portRanges(text);
  if (ranges.flat().some((port) => port > PORT_MAX)) return { field, issue: 'max', max: PORT_MAX };
  return ranges.some(([low, high]) => low > high) ? { field, issue: 'invalid_format' } : null;
}

/** A QR code in half-block characters: two modules above each other are one character. */
import { encode } from 'uqr';

/** Modules of quiet around the code, as its standard asks. */
const QUIET_ZONE_MODULES = 4;
/**
 * Black on white by numbers of the fixed palette: the colours of a dark terminal, or of a theme, would turn the code inside out,
 * and not every reader takes the reverse.
 */
const BLACK_ON_WHITE = '\u001b[38;5;16;48;5;231m';
const RESET = '\u001b[0m';
const BLOCKS = { 'true,true': '█', 'true,false': '▀', 'false,true': '▄', 'false,false': ' ' } as const;

/** Lines to print; null: it is wider than the terminal, where it would be cut in two. */
export function qrLines(text: string, columns: number): string[] | null {
  const { data, size } = encode(text, { ecc: 'L', border: QUIET_ZONE_MODULES });
  if (size > columns) return null;
  const lines: string[] = [];
  for (let y = 0; y < size; y += 2) {
    const blocks = (data[y] ?? []).map((upper, x) => BLOCKS[`${upper},${data[y + 1]?.[x] ?? false}`]);
    lines.push(`${BLACK_ON_WHITE}${blocks.join('')}${RESET}`);
  }
  return lines;
}

/** Draws a QR code with half-block characters: each character shows two modules, one above the other. */
import { encode } from 'uqr';

/** Width of the quiet zone in modules, as the QR standard requires. */
const QUIET_ZONE_MODULES = 4;
/**
 * Uses fixed palette numbers for black on white: the colors of a dark terminal or a theme would invert the
 * code, and some readers reject an inverted code.
 */
const BLACK_ON_WHITE = '\u001b[38;5;16;48;5;231m';
const RESET = '\u001b[0m';
const BLOCKS = { 'true,true': '█', 'true,false': '▀', 'false,true': '▄', 'false,false': ' ' } as const;

/** Returns the lines to print; null if the code is wider than the terminal and would wrap. */
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

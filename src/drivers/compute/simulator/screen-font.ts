/** Draws text for the simulated screen, white on black: printable ASCII, 5 dots wide and 8 high. */

/** One character per glyph and row: a base-32 number whose bits are the dots, leftmost first. */
const GLYPHS = `
0000000 4444404 aaa0000 aavavaa 4fke5u4 op248j3 cik8lid 4480000 2488842 8422248 04lel40 044v440
0000c48 000e000 00000cc 01248g0 ehjlphe 4c4444e eh1248v v2421he 26aiv22 vgu11he 68guhhe v124888
ehhehhe ehhf12c 0cc0cc0 0cc0c48 248g842 00v0v00 8421248 eh12404 eh1dlle ehhvhhh uhhuhhu ehggghe
sihhhis vgguggv vgguggg ehgnhhf hhhvhhh e44444e 72222ic hikokih ggggggv hrllhhh hhpljhh ehhhhhe
uhhuggg ehhhlid uhhukih fgge11u v444444 hhhhhhe hhhhha4 hhhllla hha4ahh hhha444 v1248gv e88888e
0g84210 e22222e 4ah0000 000000v 8420000 00e1fhf ggmphhu 00egghe 11djhhf 00ehvge 698s888 00fhhf1e
ggmphhh 40c444e 206222ic ggikoki c44444e 00qllhh 00mphhh 00ehhhe 00uhhugg 00fhhf11 00mpggg 00ege1u
88s8896 00hhhjd 00hhha4 00hhlla 00ha4ah 00hhhf1e 00v248v 2448442 4444444 8442448 08l2000
`
  .trim()
  .split(/\s+/);
const FIRST_CHAR_CODE = 32;
const DOTS = 5;
/** Each dot is two pixels wide and high. The first is one pixel from the cell's left edge. */
const SCALE = 2;
const LEFT = 1;
export const CELL_WIDTH = 12;
export const CELL_HEIGHT = 16;

/**
 * Returns the pixels of one row of text in a picture of this width. A pixel has all its bits or none, which
 * is white or black in every true-color format.
 */
export function drawRow(text: string, width: number, bytesPerPixel: number): Buffer {
  const pixels = Buffer.alloc(width * CELL_HEIGHT * bytesPerPixel);
  for (const [column, letter] of [...text].entries()) {
    for (const [x, y] of dotsOf(letter)) {
      const left = column * CELL_WIDTH + LEFT + x * SCALE;
      for (let line = y * SCALE; line < (y + 1) * SCALE; line += 1) {
        const at = (line * width + left) * bytesPerPixel;
        pixels.fill(0xff, at, at + SCALE * bytesPerPixel);
      }
    }
  }
  return pixels;
}

/** Returns the places of a letter's dots, from the top left. */
function dotsOf(letter: string): [x: number, y: number][] {
  const rows = [...(GLYPHS[letter.charCodeAt(0) - FIRST_CHAR_CODE] ?? '')].map((row) =>
    Number.parseInt(row, 32),
  );
  return rows.flatMap((bits, y) =>
    Array.from({ length: DOTS }, (_, x): [number, number] => [x, y]).filter(
      ([x]) => bits & (1 << (DOTS - 1 - x)),
    ),
  );
}

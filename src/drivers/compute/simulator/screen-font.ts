/**
 * Glyphs of the simulated screen: printable ASCII, 5 dots wide and 7 high, or 8 with descenders. A glyph has
 * one character per row, from the top. Each character is a base-32 number whose bits are the dots, leftmost
 * first.
 */
const GLYPH_DATA = `
0000000 4444404 aaa0000 aavavaa 4fke5u4 op248j3 cik8lid 4480000 2488842 8422248 04lel40 044v440
0000c48 000e000 00000cc 01248g0 ehjlphe 4c4444e eh1248v v2421he 26aiv22 vgu11he 68guhhe v124888
ehhehhe ehhf12c 0cc0cc0 0cc0c48 248g842 00v0v00 8421248 eh12404 eh1dlle ehhvhhh uhhuhhu ehggghe
sihhhis vgguggv vgguggg ehgnhhf hhhvhhh e44444e 72222ic hikokih ggggggv hrllhhh hhpljhh ehhhhhe
uhhuggg ehhhlid uhhukih fgge11u v444444 hhhhhhe hhhhha4 hhhllla hha4ahh hhha444 v1248gv e88888e
0g84210 e22222e 4ah0000 000000v 8420000 00e1fhf ggmphhu 00egghe 11djhhf 00ehvge 698s888 00fhhf1e
ggmphhh 40c444e 206222ic ggikoki c44444e 00qllhh 00mphhh 00ehhhe 00uhhugg 00fhhf11 00mpggg 00ege1u
88s8896 00hhhjd 00hhha4 00hhlla 00ha4ah 00hhhf1e 00v248v 2448442 4444444 8442448 08l2000
`;

export const CELL_WIDTH = 12;
export const CELL_HEIGHT = 16;
const DOTS = 5;
/** Each dot is two pixels wide and high. The first is one pixel from the cell's left edge. */
const SCALE = 2;
const LEFT = 1;
const FIRST_CHAR_CODE = 32;

/** A filled cell that marks the position of the next letter. */
export const CURSOR = '\x7f';

const GLYPHS: readonly Uint16Array[] = GLYPH_DATA.trim().split(/\s+/).map(rasterize);
const BLOCK = new Uint16Array(CELL_HEIGHT).fill(2 ** CELL_WIDTH - 1);
const UNKNOWN = rasterize('vhhhhhv');

/**
 * Returns one number per pixel line of the cell, from the top. Its 12 bits are the pixels, leftmost first.
 */
export function glyph(letter: string): Uint16Array {
  if (letter === CURSOR) return BLOCK;
  return GLYPHS[letter.charCodeAt(0) - FIRST_CHAR_CODE] ?? UNKNOWN;
}

function rasterize(rows: string): Uint16Array {
  const lines = new Uint16Array(CELL_HEIGHT);
  [...rows].forEach((row, index) => {
    lines.fill(rowPixels(Number.parseInt(row, 32)), SCALE * index, SCALE * (index + 1));
  });
  return lines;
}

function rowPixels(dots: number): number {
  let pixels = 0;
  for (let dot = 0; dot < DOTS; dot += 1) {
    if (dots & (1 << (DOTS - 1 - dot))) pixels |= 0b11 << (CELL_WIDTH - LEFT - SCALE * (dot + 1));
  }
  return pixels;
}

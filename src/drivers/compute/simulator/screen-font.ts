/**
 * The simulated screen's letters: printable ASCII drawn for this screen, 5 dots wide and 7 high. Each letter is 7
 * characters, one for a row from the top; a character is a number in base 32 whose bits are dots, the left one highest.
 */
const ROWS = `
0000000 4444404 aaa0000 aavavaa 4fke5u4 op248j3 cik8lid 4480000 2488842 8422248 04lel40 044v440 0000c48 000e000
00000cc 01248g0 ehjlphe 4c4444e eh1248v v2421he 26aiv22 vgu11he 68guhhe v124888 ehhehhe ehhf12c 0cc0cc0 0cc0c48
248g842 00v0v00 8421248 eh12404 eh1dlle ehhvhhh uhhuhhu ehggghe sihhhis vgguggv vgguggg ehgnhhf hhhvhhh e44444e
72222ic hikokih ggggggv hrllhhh hhpljhh ehhhhhe uhhuggg ehhhlid uhhukih fgge11u v444444 hhhhhhe hhhhha4 hhhllla
hha4ahh hhha444 v1248gv e88888e 0g84210 e22222e 4ah0000 000000v 8420000 00e1fhf ggmphhu 00egghe 11djhhf 00ehvge
698s888 0fhhf1e ggmphhh 40c444e 20622ic ggikoki c44444e 00qllhh 00mphhh 00ehhhe 00uhugg 00djf11 00mpggg 00ege1u
88s8896 00hhhjd 00hhha4 00hhlla 00ha4ah 00hhf1e 00v248v 2448442 4444444 8442448 08l2000
`;

export const CELL_WIDTH = 8;
export const CELL_HEIGHT = 16;
/** Each row of a letter is drawn twice, below one empty line. */
const TOP = 1;
/** The letter's left edge in its cell. */
const LEFT = 1;
const FIRST = 32;

/** Stands for a filled cell: where the next letter goes. */
export const CURSOR = '\x7f';

const GLYPHS: readonly Uint8Array[] = ROWS.trim().split(/\s+/).map(drawn);
const BLOCK = new Uint8Array(CELL_HEIGHT).fill(0xff);
const UNKNOWN = drawn('vhhhhhv');

/** 16 bytes, one for a line of the cell from the top; the left dot is the highest bit. */
export function glyph(letter: string): Uint8Array {
  if (letter === CURSOR) return BLOCK;
  return GLYPHS[letter.charCodeAt(0) - FIRST] ?? UNKNOWN;
}

function drawn(rows: string): Uint8Array {
  const lines = new Uint8Array(CELL_HEIGHT);
  [...rows].forEach((row, index) => {
    const dots = Number.parseInt(row, 32) << (CELL_WIDTH - 5 - LEFT);
    lines.fill(dots, TOP + 2 * index, TOP + 2 * index + 2);
  });
  return lines;
}

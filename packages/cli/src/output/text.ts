/** Text on a terminal: its width, and the characters that must not reach it. */

/** Created on first use: it takes longer than all other work at startup. */
let graphemes: Intl.Segmenter | undefined;

function segmentGraphemes(text: string): Intl.Segments {
  graphemes ??= new Intl.Segmenter();
  return graphemes.segment(text);
}

/** Inclusive ranges of Unicode's East Asian Wide and Fullwidth characters, merged where they are adjacent. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18aff],
  [0x1b000, 0x1b2ff],
  [0x1f200, 0x1f2ff],
  [0x20000, 0x3fffd],
];
// An emoji, a flag of two letters, or a sign with the emoji variation selector.
const EMOJI = /^(?:\p{Emoji_Presentation}|\p{Regional_Indicator}|\p{Emoji}\ufe0f)/u;
const ZERO_WIDTH = /^[\p{M}\p{Cf}\u1160-\u11ff]/u;
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

export function displayWidth(text: string): number {
  if (PRINTABLE_ASCII.test(text)) return text.length;
  return [...segmentGraphemes(text)].reduce((width, { segment }) => width + graphemeWidth(segment), 0);
}

/** Cuts text to fit and marks the cut with …. */
export function truncate(text: string, max: number): string {
  if (displayWidth(text) <= max) return text;
  let width = 1;
  let kept = '';
  for (const { segment } of segmentGraphemes(text)) {
    width += graphemeWidth(segment);
    if (width > max) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

/** Returns the width of one grapheme cluster. */
function graphemeWidth(grapheme: string): number {
  if (EMOJI.test(grapheme)) return 2;
  if (ZERO_WIDTH.test(grapheme)) return 0;
  const code = grapheme.codePointAt(0) ?? 0;
  return WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
}

/** Keeps text from elsewhere from controlling the terminal or changing the reading order. */
const CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the target.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Replaces control characters with a mark; keeps tabs and line breaks. */
export function printable(text: string): string {
  return text.replace(CONTROLS, '\ufffd');
}

export function hasControls(text: string): boolean {
  return text.search(CONTROLS) !== -1;
}

/** Escapes control characters in JSON, which keeps its values the same. */
export function printableJson(json: string): string {
  return json.replace(CONTROLS, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

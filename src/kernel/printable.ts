import { LIMITS } from '../spec/limits.ts';

const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;
const BLANK = /^\s*$/u;

/**
 * Whether every character is visible or a space: no control characters, invisible characters or line breaks.
 */
export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text);
}

/** Returns a display name of 1 to 63 printable characters in NFC; undefined if the text is invalid. */
export function parseDisplayName(text: string): string | undefined {
  const name = text.normalize('NFC');
  const chars = [...name].length;
  return chars > LIMITS.nameMaxChars || BLANK.test(name) || !isPrintable(name) ? undefined : name;
}

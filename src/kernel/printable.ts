import { LIMITS } from '../spec/limits.ts';

const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;
const BLANK = /^\s*$/u;

/** Whether every character can be seen or is a space: no controls, no invisible ones, no line ends of any kind. */
export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text);
}

/** A display name of 1 to 63 printable characters in its composed form; undefined when it is none. */
export function parseDisplayName(text: string): string | undefined {
  const name = text.normalize('NFC');
  const chars = [...name].length;
  return chars > LIMITS.nameMaxChars || BLANK.test(name) || !isPrintable(name) ? undefined : name;
}

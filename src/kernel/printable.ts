const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** Whether every character can be seen or is a space: no controls, no invisible ones, no line ends of any kind. */
export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text);
}

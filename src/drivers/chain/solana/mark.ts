/**
 * How far an address was read. A node lists the newest transactions first and so many at once: where there are more, the rest
 * between the newest one read and the last mark is a gap, which is read page by page before anything newer is looked at.
 */
import type { ListedTransaction } from './node.ts';

export interface Mark {
  /** All up to this one was told; null: there was nothing before the address was given out. */
  readonly base: string | null;
  readonly gap: { readonly head: string; readonly before: string } | null;
}

export const UNREAD_MARK: Mark = { base: null, gap: null };
/** It has a past, and was not given out. */
export const REFUSED_MARK = 'refused';

const NONE = '-';
const SEPARATOR = '>';

export function formatMark({ base, gap }: Mark): string {
  return [base ?? NONE, ...(gap === null ? [] : [gap.head, gap.before])].join(SEPARATOR);
}

export function parseMark(text: string | null): Mark {
  const [base = NONE, head, before] = (text ?? NONE).split(SEPARATOR);
  return {
    base: base === NONE ? null : base,
    gap: head === undefined || before === undefined ? null : { head, before },
  };
}

/** After a page of at most `limit` was read; `more`: there is something else to be read at once. */
export function advanceMark(
  mark: Mark,
  page: readonly ListedTransaction[],
  limit: number,
): { readonly mark: Mark; readonly more: boolean } {
  const { base, gap } = mark;
  const last = page.at(-1);
  const isFull = page.length >= limit && last !== undefined;
  // What is not final may still move.
  const newest = page.find(({ final }) => final)?.signature;
  if (gap !== null) {
    if (isFull) return { mark: { base, gap: { head: gap.head, before: last.signature } }, more: true };
    return { mark: { base: gap.head, gap: null }, more: true };
  }
  if (newest === undefined) return { mark, more: false };
  if (isFull) return { mark: { base, gap: { head: newest, before: last.signature } }, more: true };
  return { mark: { base: newest, gap: null }, more: false };
}

/**
 * How far an address was read. A node lists a page of the newest transactions first. If there are more, the
 * rest down to the previous mark is a gap, which is read page by page before anything newer.
 */
import type { ListedTransaction } from './node.ts';

export interface Mark {
  /** Everything up to this transaction was reported; null: the address had none when it was assigned. */
  readonly base: string | null;
  readonly gap: { readonly head: string; readonly before: string } | null;
}

export const UNREAD_MARK: Mark = { base: null, gap: null };
/** The address was used before and was never assigned. */
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

/** Returns the mark after reading a page of at most `limit`; `more`: there is more to read now. */
export function advanceMark(
  mark: Mark,
  page: readonly ListedTransaction[],
  limit: number,
): { readonly mark: Mark; readonly more: boolean } {
  const { base, gap } = mark;
  const last = page.at(-1);
  const isFull = page.length >= limit && last !== undefined;
  // A transaction that isn't final may still change its position.
  const newest = page.find(({ final }) => final)?.signature;
  if (gap !== null) {
    if (isFull) return { mark: { base, gap: { head: gap.head, before: last.signature } }, more: true };
    return { mark: { base: gap.head, gap: null }, more: true };
  }
  if (newest === undefined) return { mark, more: false };
  if (isFull) return { mark: { base, gap: { head: newest, before: last.signature } }, more: true };
  return { mark: { base: newest, gap: null }, more: false };
}

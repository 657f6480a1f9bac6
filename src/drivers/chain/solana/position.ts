/** Where reading continues: the cursor of a poll, and the mark of each address. */
import type { ListedTransaction } from './node.ts';

/**
 * The Solana cursor: `slot:blockhash` of the newest finalized block, and where the next poll continues, as
 * the last scanned address.
 */
export interface Position {
  readonly slot: number;
  readonly blockhash: string;
  /** Position among the recent addresses if they didn't fit in one poll; null: start with the newest. */
  readonly resume: string | null;
  /** Position in the rotation of older addresses; null: start with the newest of them. */
  readonly turn: string | null;
}

const NONE = '-';

export function formatPosition({ slot, blockhash, resume, turn }: Position): string {
  return [slot, blockhash, resume ?? NONE, turn ?? NONE].join(':');
}

/** Returns null for a missing or invalid cursor: then everything is scanned from the start. */
export function parsePosition(text: string | null): Position | null {
  const match = /^(\d{1,15}):(\w{1,64}):(-|\w{1,64}):(-|\w{1,64})$/.exec(text ?? '');
  const [, slot, blockhash, resume, turn] = match ?? [];
  if (slot === undefined || blockhash === undefined) return null;
  return {
    slot: Number(slot),
    blockhash,
    resume: resume === NONE ? null : (resume ?? null),
    turn: turn === NONE ? null : (turn ?? null),
  };
}

/**
 * How far an address was read. A node lists a page of the newest transactions first. If there are more, the
 * rest down to the previous mark is a gap, which is read page by page before anything newer.
 */
export interface Mark {
  /** Everything up to this transaction was reported; null: the address had none when it was assigned. */
  readonly base: string | null;
  readonly gap: { readonly head: string; readonly before: string } | null;
}

export const UNREAD_MARK: Mark = { base: null, gap: null };
/** The address was used before and was never assigned. */
export const REFUSED_MARK = 'refused';

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

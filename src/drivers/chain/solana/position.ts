/**
 * The cursor of Solana, `slot:blockhash` of the newest finalized block and where the next poll goes on, as the last address that was
 * looked at.
 */
export interface Position {
  readonly slot: number;
  readonly blockhash: string;
  /** Among the addresses of the last days, where there were too many at once; null: from the newest one. */
  readonly resume: string | null;
  /** Among the older ones, which have turns; null: from the newest of them. */
  readonly turn: string | null;
}

const NONE = '-';

export function formatPosition({ slot, blockhash, resume, turn }: Position): string {
  return [slot, blockhash, resume ?? NONE, turn ?? NONE].join(':');
}

/** Null for none, and for what is none: then everything is looked at from the beginning. */
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

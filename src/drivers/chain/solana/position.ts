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

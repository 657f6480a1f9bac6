/** How far a chain was read: `height:hash`. */
export interface Cursor {
  readonly height: number;
  readonly hash: string;
}

/** Returns null for a missing or invalid cursor: the chain is then read as on the first poll. */
export function parseCursor(text: string | null): Cursor | null {
  const match = /^(\d{1,12}):([0-9A-Za-z]{1,128})$/.exec(text ?? '');
  return match ? { height: Number(match[1]), hash: match[2] ?? '' } : null;
}

export function formatCursor({ height, hash }: Cursor): string {
  return `${height}:${hash}`;
}

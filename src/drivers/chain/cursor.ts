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

/**
 * The node is below a height that was already read: restored from a backup, or still loading. Wait for it,
 * because payments that it doesn't know yet would look removed and their credits would be reversed. A real
 * reorganization never ends with a shorter chain.
 */
export class NodeBehind extends Error {
  override readonly name = 'NodeBehind';
  constructor(height: number, readTo: number) {
    super(`the node is at block ${height}, but was already read up to ${readTo}; waiting for it to catch up`);
  }
}

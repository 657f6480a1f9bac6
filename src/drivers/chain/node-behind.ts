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

/**
 * A node that was read further than it is now, put back or still loading: it is waited for. What it does not know would else be
 * taken for removed, and credits be reversed for nothing. A real reorganisation ends in a chain that is no shorter.
 */
export class NodeBehind extends Error {
  override readonly name = 'NodeBehind';
  constructor(height: number, readTo: number) {
    super(`the node is at block ${height}, and was read up to ${readTo} before: it is waited for`);
  }
}

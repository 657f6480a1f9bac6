/**
 * Commits that a standby did not confirm. A server whose wait for its synchronous standby is canceled, for
 * example by an operator with pg_cancel_backend, reports the commit as done, with only a warning. No timeout
 * of the server ends the wait. The change would be lost with the server, so its outcome is unknown.
 */
import type pg from 'pg';

/** The function of the server that warns. The text of the message depends on its language. */
const WAIT = 'SyncRepWaitForLSN';

const warned = new WeakSet<pg.ClientBase>();

export function watchReplication(client: pg.Client): void {
  client.on('notice', ({ routine }) => {
    if (routine === WAIT) warned.add(client);
  });
}

/** Whether the connection reported such a commit. It must not be used again. */
export function hasUnreplicated(client: pg.ClientBase): boolean {
  return warned.has(client);
}

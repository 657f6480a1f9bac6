/** The socket of a connection, which `pg` has no type for. */
import type { Socket } from 'node:net';
import type pg from 'pg';

export function socketOf(client: pg.ClientBase): Socket {
  return (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;
}

/** Closes a connection whose server may never answer, unlike `end`, which says goodbye and waits. */
export function destroyConnection(client: pg.ClientBase): void {
  socketOf(client).destroy();
}

/** The socket of a connection, which `pg` has no type for. */
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type pg from 'pg';

export function socketOf(client: pg.ClientBase): Socket {
  return (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;
}

/** Closes a connection whose server may never answer, unlike `end`, which says goodbye and waits. */
export function destroyConnection(client: pg.ClientBase): void {
  socketOf(client).destroy();
}

const CANCEL_REQUEST = 80_877_102;
const CANCEL_TIMEOUT_MS = 1_000;

/**
 * Closes a connection, and asks its server to end what it still runs. A server does not notice a closed
 * connection while it waits for a lock or a standby, so such sessions would add up.
 */
export function abandonConnection(client: pg.Client): void {
  const { host, port } = client;
  const { processID, secretKey } = client as unknown as Readonly<Record<'processID' | 'secretKey', unknown>>;
  destroyConnection(client);
  if (typeof processID !== 'number' || typeof secretKey !== 'number') return;
  const request = Buffer.alloc(16);
  for (const [index, value] of [request.length, CANCEL_REQUEST, processID, secretKey].entries())
    request.writeInt32BE(value, index * 4);
  const to = host.startsWith('/') ? { path: join(host, `.s.PGSQL.${port}`) } : { host, port };
  const socket = connect(to, () => socket.end(request));
  socket.setTimeout(CANCEL_TIMEOUT_MS, () => socket.destroy());
  // A server that is gone runs nothing.
  socket.on('error', () => undefined);
  socket.unref();
}

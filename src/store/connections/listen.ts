/** A connection that listens for notifications, and is replaced when it is lost. */
import pg from 'pg';
import { destroyConnection } from './socket.ts';

const RECONNECT_DELAY_MS = 1_000;

interface Listener {
  readonly channel: string;
  readonly onNotification: () => void;
  /** Runs on each new connection. */
  readonly prepare: (client: pg.Client) => Promise<void> | undefined;
  readonly onError: ((error: Error) => void) | undefined;
}

/**
 * Listens on one connection and reconnects after a second. Polling guarantees progress; this only makes it
 * fast.
 */
export async function listenWithReconnect(
  connect: () => pg.Client,
  { channel, onNotification, prepare, onError }: Listener,
): Promise<{ stop(): Promise<void> }> {
  let stopped = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  // A failed attempt is reported twice, by its promise and by its connection's end, but schedules only one
  // retry.
  const scheduleReconnect = () => {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(() => start().catch(scheduleReconnect), RECONNECT_DELAY_MS);
  };
  async function start(): Promise<void> {
    const next = connect();
    client = next;
    next.on('error', (error) => {
      onError?.(error);
      // The client is unusable, even if the server keeps the connection open.
      destroyConnection(next);
    });
    next.on('end', scheduleReconnect);
    next.on('notification', onNotification);
    try {
      await next.connect();
      await prepare(next);
      await next.query(`listen ${pg.escapeIdentifier(channel)}`);
      // A notification may have been missed while disconnected.
      onNotification();
    } catch (error) {
      destroyConnection(next);
      throw error;
    }
  }
  async function stop(): Promise<void> {
    stopped = true;
    clearTimeout(timer);
    await client?.end().catch(() => undefined);
  }
  await start().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { stop };
}

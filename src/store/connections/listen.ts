/** A connection that listens for notifications, and is replaced when it is lost. */
import pg from 'pg';
import type { Connector } from './connector.ts';
import { failureOf } from './silence.ts';
import { destroyConnection } from './socket.ts';

const RECONNECT_DELAY_MS = 1_000;
/** Nothing but its answers tells a connection without notifications from one whose server is gone. */
const CHECK_EVERY_MS = 15_000;
/** Long, because the end of the session also gives up the lock of the process. */
const CHECK_LIMIT_MS = 10_000;

interface Listener {
  readonly channel: string;
  readonly onNotification: () => void;
  /** Runs on each new connection. */
  readonly onConnect: (client: pg.Client) => Promise<void> | undefined;
  readonly onError: ((error: Error) => void) | undefined;
}

/**
 * Listens on one connection and reconnects after a second. Polling guarantees progress; this only makes it
 * fast.
 */
export async function listenWithReconnect(
  connector: Connector,
  { channel, onNotification, onConnect, onError }: Listener,
): Promise<{ stop(): Promise<void> }> {
  // Repeated, it changes nothing.
  const listen = `listen ${pg.escapeIdentifier(channel)}`;
  let stopped = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  // A failed attempt is reported twice, by its promise and by its connection's end, but schedules only one
  // retry.
  const scheduleReconnect = () => {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(() => start().catch(scheduleReconnect), RECONNECT_DELAY_MS);
  };
  function prepare(next: pg.Client): void {
    client = next;
    next.on('error', (error) => {
      onError?.(error);
      // The client is unusable, even if the server keeps the connection open.
      destroyConnection(next);
    });
    const checks = setInterval(() => void check(next), CHECK_EVERY_MS).unref();
    next.on('end', () => {
      clearInterval(checks);
      if (client === next) scheduleReconnect();
    });
    next.on('notification', onNotification);
  }
  async function check(next: pg.Client): Promise<void> {
    if (await failureOf(next, CHECK_LIMIT_MS, listen)) destroyConnection(next);
  }
  async function start(): Promise<void> {
    const next = await connector.open({}, prepare);
    try {
      if (stopped) throw new Error('Connection terminated while it was opened');
      await onConnect(next);
      await next.query(listen);
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

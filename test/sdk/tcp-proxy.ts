/** A TCP proxy to the service that counts its connections and can break them. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly url: string;
  /** Returns the number of open connections. */
  openCount(): number;
  /** Resolves when this many connections have been made in total. */
  waitForConnections(count: number): Promise<void>;
  /** Resolves when no connection is open. */
  waitForDisconnects(): Promise<void>;
  /** Breaks every connection. */
  breakConnections(): void;
  close(): Promise<void>;
}

/** Shortens the reconnect delay in the service's responses, so that tests do not wait. */
export async function startTcpProxy(url: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(url);
  const open = new Set<Socket>();
  const waiting = new Set<() => void>();
  let made = 0;
  const notify = () => {
    for (const resume of waiting) resume();
  };
  const waitUntil = async (done: () => boolean) => {
    while (!done()) await new Promise<void>((resolve) => waiting.add(resolve));
  };
  const server = createServer((socket) => {
    made += 1;
    open.add(socket);
    const upstream = connect(Number(port), hostname);
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      one.on('error', () => undefined);
      one.once('close', () => other.destroy());
    }
    socket.pipe(upstream);
    upstream.on('data', (data) => {
      // Keep the length: the response is chunked, and each chunk states its length.
      const text = data.toString('latin1').replace('retry: 3000\n', 'retry: 0010\n');
      socket.write(text, 'latin1');
    });
    socket.once('close', () => {
      open.delete(socket);
      notify();
    });
    notify();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    openCount: () => open.size,
    waitForConnections: (count) => waitUntil(() => made >= count),
    waitForDisconnects: () => waitUntil(() => open.size === 0),
    breakConnections: () => {
      for (const socket of open) socket.resetAndDestroy();
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

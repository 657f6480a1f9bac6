/** A way to the service that can be cut: a proxy of bytes, which counts who is connected. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly url: string;
  /** How many connections are open. */
  openCount(): number;
  /** Resolves when so many have been made since the beginning. */
  waitForConnections(count: number): Promise<void>;
  /** Resolves when none is open. */
  waitForDisconnects(): Promise<void>;
  /** Breaks every connection. */
  breakConnections(): void;
  close(): Promise<void>;
}

/** What the service says of coming again is shortened, so that a test need not wait. */
export async function startTcpProxy(url: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(url);
  const open = new Set<Socket>();
  const waiting = new Set<() => void>();
  let made = 0;
  const notify = () => {
    for (const rise of waiting) rise();
  };
  const waitUntil = async (done: () => boolean) => {
    while (!done()) await new Promise<void>((resolve) => waiting.add(resolve));
  };
  const server = createServer((socket) => {
    made += 1;
    open.add(socket);
    const there = connect(Number(port), hostname);
    for (const [one, other] of [
      [socket, there],
      [there, socket],
    ] as const) {
      one.on('error', () => undefined);
      one.once('close', () => other.destroy());
    }
    socket.pipe(there);
    there.on('data', (data) => {
      // As long as before: the answer comes in chunks, whose lengths are told.
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

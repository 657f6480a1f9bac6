/** A way to the service that can be cut: a proxy of bytes, which counts who is connected. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Way {
  readonly url: string;
  /** How many connections are open. */
  open(): number;
  /** Resolves when so many have been made since the beginning. */
  made(count: number): Promise<void>;
  /** Resolves when none is open. */
  left(): Promise<void>;
  /** Breaks every connection. */
  cut(): void;
  close(): Promise<void>;
}

/** What the service says of coming again is shortened, so that a test need not wait. */
export async function wayTo(url: string): Promise<Way> {
  const { hostname, port } = new URL(url);
  const open = new Set<Socket>();
  const waiting = new Set<() => void>();
  let made = 0;
  const tell = () => {
    for (const rise of waiting) rise();
  };
  const until = async (done: () => boolean) => {
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
      tell();
    });
    tell();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => open.size,
    made: (count) => until(() => made >= count),
    left: () => until(() => open.size === 0),
    cut: () => {
      for (const socket of open) socket.resetAndDestroy();
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A TCP proxy to the test database that fails as a server does: with a fatal error, or by hanging. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { ConnectionSettings } from '../../src/store/db.ts';

type ServerSettings = Exclude<ConnectionSettings, { connectionString: string }>;

/** After the fatal error, a real server closes the connection. */
export type AfterFatal = 'closes' | 'stays';

export interface PgProxy {
  readonly connection: ServerSettings;
  /** Messages of the server since the last `failAt`. */
  readonly messageCount: number;
  /** Appends a fatal error to this message of the server, once. They count from 1, over all connections. */
  failAt(message: number, after: AfterFatal): void;
  /** Holds back all data, as a stopped server does: it accepts connections and never answers. */
  hang(): void;
  resume(): void;
  close(): Promise<void>;
}

const FATAL = fatalError('57P01', 'terminating connection due to administrator command');

/** The faults that all connections of a proxy share. */
interface Faults {
  failure: { readonly message: number; readonly after: AfterFatal } | null;
  messageCount: number;
  isHanging: boolean;
}

/** Starts a proxy to the server of these settings. */
export async function startPgProxy(target: ServerSettings): Promise<PgProxy> {
  const sockets = new Set<Socket>();
  const flushes = new Set<() => void>();
  const faults: Faults = { failure: null, messageCount: 0, isHanging: false };
  // Each message is a write of its own. Most would wait 40 ms for the acknowledgment of the previous one.
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connectTo(target);
    const flush = join(client, upstream, faults);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
    flushes.add(flush);
    client.once('close', () => flushes.delete(flush));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    connection: { ...target, host: '127.0.0.1', port },
    get messageCount() {
      return faults.messageCount;
    },
    failAt: (message, after) => {
      faults.messageCount = 0;
      faults.failure = { message, after };
    },
    hang: () => {
      faults.isHanging = true;
    },
    resume: () => {
      faults.isHanging = false;
      for (const flush of flushes) flush();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Passes data between both sockets. Returns a function that passes on what was held back. */
function join(client: Socket, upstream: Socket, faults: Faults): () => void {
  const toClient: Buffer[] = [];
  const toServer: Buffer[] = [];
  const split = messageSplitter();
  const flush = () => {
    if (faults.isHanging) return;
    for (const data of toServer.splice(0)) upstream.write(data);
    for (const message of toClient.splice(0).flatMap(split)) {
      faults.messageCount += 1;
      const isFatal = faults.failure?.message === faults.messageCount;
      client.write(isFatal ? Buffer.concat([message, FATAL]) : message);
      if (isFatal && faults.failure?.after === 'closes') return void client.end(() => upstream.destroy());
    }
  };
  link(client, upstream, toServer, flush);
  link(upstream, client, toClient, flush);
  return flush;
}

function connectTo({ host, port }: ServerSettings): Socket {
  return host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect({ port, host, noDelay: true });
}

function link(from: Socket, to: Socket, queue: Buffer[], flush: () => void): void {
  from.on('error', () => undefined);
  from.on('data', (data) => {
    queue.push(data);
    flush();
  });
  from.once('close', () => to.destroy());
}

/** Returns a function that turns the server's data into whole messages: a type, a length, and a body. */
function messageSplitter(): (data: Buffer) => Buffer[] {
  let rest = Buffer.alloc(0);
  return (data) => {
    rest = Buffer.concat([rest, data]);
    const messages: Buffer[] = [];
    while (rest.length >= 5 && rest.length >= 1 + rest.readUInt32BE(1)) {
      const end = 1 + rest.readUInt32BE(1);
      messages.push(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
    return messages;
  };
}

function fatalError(state: string, text: string): Buffer {
  const fields = `SFATAL\0VFATAL\0C${state}\0M${text}\0\0`;
  const head = Buffer.from('E\0\0\0\0');
  head.writeUInt32BE(4 + Buffer.byteLength(fields), 1);
  return Buffer.concat([head, Buffer.from(fields)]);
}

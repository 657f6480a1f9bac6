/** A TCP proxy that fails as networks do: it delays, holds back, loses, and resets. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpTarget {
  /** A name, or the folder of a PostgreSQL socket. */
  readonly host: string;
  readonly port: number;
}

export interface TcpProxy {
  readonly port: number;
  /** Passes on all data this much later. */
  delay(ms: number): void;
  /** Holds back all data, as a stopped server does: it accepts connections and never answers. */
  hang(): void;
  /** Ends `delay` and `hang`. */
  resume(): void;
  /**
   * Loses all data of the connections that are open: neither side learns it. New connections work. Returns
   * their number.
   */
  lose(): number;
  /** Ends all connections without their data in flight, as a firewall does. Returns their number. */
  reset(): number;
  /** Whether new connections are refused. */
  refuse(isRefusing: boolean): void;
  close(): Promise<void>;
}

/** Changes data of the server on its way to the client. */
export interface ServerData {
  /** Returns what the client gets. `ends`: the connection is closed after it. */
  readonly pass: (data: Buffer) => { readonly data: readonly Buffer[]; readonly ends?: boolean };
}

interface Faults {
  delayMs: number;
  isHanging: boolean;
  isRefusing: boolean;
}

interface Connection {
  readonly flush: () => void;
  readonly end: () => void;
  readonly reset: () => void;
  readonly lose: () => void;
}

const unchanged: () => ServerData = () => ({ pass: (data) => ({ data: [data] }) });

/** Starts a proxy to this target. `fromServer` is called once per connection. */
export async function startTcpProxy(
  target: TcpTarget,
  fromServer: () => ServerData = unchanged,
): Promise<TcpProxy> {
  const connections = new Set<Connection>();
  const faults: Faults = { delayMs: 0, isHanging: false, isRefusing: false };
  // Each message is a write of its own. Most would wait 40 ms for the acknowledgment of the previous one.
  const server = createServer({ noDelay: true, allowHalfOpen: false }, (client) => {
    client.on('error', () => undefined);
    if (faults.isRefusing) return void client.resetAndDestroy();
    const upstream = connectTo(target);
    const connection = join(client, upstream, faults, fromServer());
    connections.add(connection);
    client.once('close', () => connections.delete(connection));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const flushAll = () => {
    for (const { flush } of connections) flush();
  };
  return {
    port: (server.address() as AddressInfo).port,
    delay: (ms) => {
      faults.delayMs = ms;
    },
    hang: () => {
      faults.isHanging = true;
    },
    resume: () => {
      Object.assign(faults, { isHanging: false, delayMs: 0 });
      flushAll();
    },
    lose: () => {
      for (const { lose } of connections) lose();
      return connections.size;
    },
    reset: () => {
      const { size } = connections;
      for (const { reset } of connections) reset();
      return size;
    },
    refuse: (isRefusing) => {
      faults.isRefusing = isRefusing;
    },
    close: async () => {
      for (const { end } of connections) end();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Passes data between both sockets. */
function join(client: Socket, upstream: Socket, faults: Faults, fromServer: ServerData): Connection {
  let isLost = false;
  const toClient: Buffer[] = [];
  const toServer: Buffer[] = [];
  const flush = () => {
    if (faults.isHanging || isLost) return;
    for (const data of toServer.splice(0)) upstream.write(data);
    for (const data of toClient.splice(0)) {
      const passed = fromServer.pass(data);
      for (const part of passed.data) client.write(part);
      if (passed.ends === true) return void client.end(() => upstream.destroy());
    }
  };
  const link = (from: Socket, to: Socket, queue: Buffer[]) => {
    from.on('error', () => undefined);
    from.on('data', (data) => {
      if (isLost) return;
      queue.push(data);
      if (faults.delayMs > 0) setTimeout(flush, faults.delayMs);
      else flush();
    });
    // Of a lost connection, neither side learns that the other has ended.
    from.once('close', () => (isLost && from === upstream ? undefined : to.destroy()));
  };
  link(client, upstream, toServer);
  link(upstream, client, toClient);
  return {
    flush,
    end: () => {
      client.destroy();
      upstream.destroy();
    },
    reset: () => {
      client.resetAndDestroy();
      upstream.destroy();
    },
    lose: () => {
      isLost = true;
    },
  };
}

function connectTo({ host, port }: TcpTarget): Socket {
  return host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect({ port, host, noDelay: true });
}

/**
 * The listener for an onion service. All its visitors arrive from Tor on this machine, so an address would
 * make them share one limit. Tor names the circuit of each connection in a line of the PROXY protocol,
 * version 1 (`HiddenServiceExportCircuitID haproxy`), and limits count by circuit. A connection without such
 * a line is closed unanswered, because a client that could omit it would share the limits of this machine.
 */
import { createServer, isIPv6, type ListenOptions, type Server, type Socket } from 'node:net';
import type { Logger } from '../kernel/logger.ts';
import { SECOND_MS } from '../kernel/time.ts';

/** Tor writes the circuit's number into the last 32 bits of an address in this network. */
const LINE =
  /^PROXY TCP6 fc00:dead:beef:4dad::([0-9a-f]{1,4}):([0-9a-f]{1,4}) (\S{2,39}) (\d{1,5}) (\d{1,5})\r\n/;
const PORT_MAX = 65_535;
/** The longest line that the protocol allows. */
const LINE_MAX_BYTES = 107;
const LINE_TIMEOUT_MS = 10 * SECOND_MS;
/** Connections at a time. More are refused, so that a flood of circuits does not exhaust the process. */
const CONNECTIONS_MAX = 4_096;

export interface OnionListener {
  readonly port: number;
  /** Accepts no more connections. */
  close(): void;
  /** Ends those that are still open, after the HTTP server has finished its requests. */
  endAll(): void;
}

/** Hands each connection to the HTTP server, with its circuit in place of an address. */
export async function listenForOnion(
  http: { emit(event: 'connection', socket: Socket): boolean },
  log: Pick<Logger, 'warn'>,
  options: ListenOptions,
): Promise<OnionListener> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    acceptCircuit(socket).then(
      () => {
        http.emit('connection', socket);
        // The line's reader paused it, and a listener for data does not undo that.
        socket.resume();
      },
      () => socket.destroy(),
    );
  });
  server.maxConnections = CONNECTIONS_MAX;
  await listening(server, options);
  server.on('error', (error) => log.warn({ err: error }, 'the listener for the onion service failed'));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close: () => void server.close(),
    endAll: () => {
      for (const socket of open) socket.destroy();
    },
  };
}

async function listening(server: Server, options: ListenOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Reads the line, and leaves the rest to the HTTP server. Rejects if another line or nothing arrives. */
async function acceptCircuit(socket: Socket): Promise<void> {
  // Until the HTTP server listens for errors.
  socket.on('error', () => undefined);
  const received = await readLine(socket);
  const parts = LINE.exec(received.toString('latin1')) ?? [];
  const [line = '', high = '', low = '', target = '', ...ports] = parts;
  const isValid = isIPv6(target) && ports.every((port) => Number(port) <= PORT_MAX);
  if (line === '' || !isValid) throw new Error('no circuit');
  const number = Number.parseInt(high, 16) * 0x10000 + Number.parseInt(low, 16);
  // Not an address: no proxy is trusted by it, and no country belongs to it.
  Object.defineProperty(socket, 'remoteAddress', { value: `circuit-${number}` });
  const rest = received.subarray(line.length);
  if (rest.length > 0) socket.unshift(rest);
}

async function readLine(socket: Socket): Promise<Buffer> {
  let received: Buffer = Buffer.alloc(0);
  return await new Promise<Buffer>((resolve, reject) => {
    const fail = () => finish(() => reject(new Error('no line')));
    const timer = setTimeout(fail, LINE_TIMEOUT_MS);
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const end = received.indexOf('\r\n');
      if (end >= 0 && end <= LINE_MAX_BYTES - 2) finish(() => resolve(received));
      else if (received.length >= LINE_MAX_BYTES) fail();
    };
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      socket.off('data', onData).off('close', fail).pause();
      settle();
    };
    socket.on('data', onData).on('close', fail);
  });
}

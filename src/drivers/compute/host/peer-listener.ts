/** Takes the streams of other hosts, for transfers that this host expects. Everything else is refused. */
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { SECOND_MS } from '../../../kernel/time.ts';
import { withTimeout } from '../../../kernel/timeout.ts';
import { PEER_TLS, type PeerTransfer, prepare, STREAM_NAME } from './peer.ts';

const HANDSHAKES_MAX = 64;
const HANDSHAKE_TIMEOUT_MS = 5 * SECOND_MS;
const STREAMS_MAX = 512;
const STREAMS_PER_TRANSFER_MAX = 48;
const NAME_TIMEOUT_MS = 10 * SECOND_MS;
const NAME_MAX_BYTES = 128;
/** How long a stream may outlive its transfer. */
const CHECK_EVERY_MS = 2 * SECOND_MS;

export interface ExpectedTransfer extends PeerTransfer {
  /** Takes over a stream. It must read it or destroy it. */
  open(name: string, stream: Duplex): void;
}

/** Looked up at each connection, so a transfer can be known to all processes of this host. */
export interface PeerTransfers {
  /** Returns the transfer while it lasts. Never throws. TLS asks for the key without waiting. */
  find(id: string): ExpectedTransfer | undefined;
}

export interface PeerListener {
  readonly port: number;
  /** Ends all streams. */
  close(): Promise<void>;
}

export async function startPeerListener(options: {
  readonly listen: { readonly host: string; readonly port: number };
  readonly transfers: PeerTransfers;
}): Promise<PeerListener> {
  const streams = new PeerStreams(options.transfers);
  const server = createServer(
    {
      ...PEER_TLS,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      pskCallback: (socket, id) => streams.identify(socket, id),
    },
    (socket) => void streams.admit(socket),
  );
  const endHandshakes = boundHandshakes(server);
  // A handshake of a stranger that failed, or took too long: Node leaves the latter open.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  server.listen(options.listen.port, options.listen.host);
  await once(server, 'listening');
  const timer = setInterval(() => streams.endFinished(), CHECK_EVERY_MS).unref();
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      clearInterval(timer);
      const closed = once(server, 'close');
      server.close();
      endHandshakes();
      streams.destroyAll();
      await closed;
    },
  };
}

/**
 * Strangers get no further than this, and cannot use up the streams of transfers. Returns a function that
 * ends the handshakes under way.
 */
function boundHandshakes(server: Server): () => void {
  const pending = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    if (pending.size >= HANDSHAKES_MAX) {
      socket.destroy();
      return;
    }
    pending.add(socket);
    const done = () => pending.delete(socket);
    socket.once('close', done);
    setTimeout(done, HANDSHAKE_TIMEOUT_MS).unref();
  });
  return () => {
    for (const socket of pending) socket.destroy();
  };
}

class PeerStreams {
  readonly #transfers: PeerTransfers;
  /** Connections that know the key of their transfer, once their handshake is done. */
  readonly #identified = new WeakMap<TLSSocket, string>();
  readonly #open = new Map<TLSSocket, string>();

  constructor(transfers: PeerTransfers) {
    this.#transfers = transfers;
  }

  /** Returns the key that the peer must have, or null to refuse it. */
  identify(socket: TLSSocket, id: string): Buffer | null {
    const transfer = this.#transfers.find(id);
    if (transfer === undefined) return null;
    this.#identified.set(socket, id);
    return Buffer.from(transfer.key);
  }

  async admit(socket: TLSSocket): Promise<void> {
    prepare(socket);
    // A resumed session proves no key, so it has no id.
    const id = this.#identified.get(socket);
    if (id === undefined || this.#isFull(id)) {
      socket.destroy();
      return;
    }
    this.#open.set(socket, id);
    socket.once('close', () => this.#open.delete(socket));
    try {
      const name = await withTimeout(readName(socket), NAME_TIMEOUT_MS);
      const transfer = this.#transfers.find(id);
      if (transfer === undefined) socket.destroy();
      else transfer.open(name, socket);
    } catch {
      socket.destroy();
    }
  }

  endFinished(): void {
    for (const [socket, id] of this.#open) if (this.#transfers.find(id) === undefined) socket.destroy();
  }

  destroyAll(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }

  #isFull(id: string): boolean {
    const own = [...this.#open.values()].filter((other) => other === id).length;
    return this.#open.size >= STREAMS_MAX || own >= STREAMS_PER_TRANSFER_MAX;
  }
}

/** Reads the first line, and leaves the rest in the stream. */
async function readName(socket: TLSSocket): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let read = Buffer.alloc(0);
  const take = () => {
    const part = socket.read() as Buffer | null;
    if (part === null) return;
    read = Buffer.concat([read, part]);
    const end = read.indexOf('\n');
    if (end < 0 && read.length <= NAME_MAX_BYTES) return;
    socket.off('readable', take);
    const name = read.subarray(0, Math.max(0, end)).toString('latin1');
    if (!STREAM_NAME.test(name)) return reject(new Error('not a name'));
    socket.unshift(read.subarray(end + 1));
    resolve(name);
  };
  const fail = () => reject(new Error('the stream ended'));
  socket.on('readable', take);
  socket.once('close', fail).once('end', fail);
  return await promise.finally(() => socket.off('readable', take).off('close', fail).off('end', fail));
}

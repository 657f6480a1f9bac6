/**
 * The control plane's connection to a host. It connects when it is first used and again after a failure, at
 * growing intervals. Pings notice a host that is silent, and all calls that wait for it then fail.
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { BACKOFF, backoffMs } from '../../../kernel/backoff.ts';
import { SECOND_MS } from '../../../kernel/time.ts';
import { withTimeout } from '../../../kernel/timeout.ts';
import type { Backend } from '../../../ports/backends.ts';
import { ComputeError } from '../../../ports/compute.ts';
import { ErrorAnswer, WelcomeAnswer } from './methods.ts';
import { peerProblem, pinnedTlsOptions, type TlsIdentity } from './pinned-tls.ts';
import { readStream } from './read-stream.ts';
import { ANSWER_MAX_BYTES, type Hello, PROTOCOL_VERSIONS, parseJson } from './wire.ts';

const CONNECT_TIMEOUT_MS = 3 * SECOND_MS;
const PING_INTERVAL_MS = 2 * SECOND_MS;
const PING_TIMEOUT_MS = 4 * SECOND_MS;

export interface ConnectionOptions {
  readonly backend: Pick<Backend, 'name' | 'address' | 'fingerprint'>;
  /** Returns the certificate and key of the control plane. */
  identity(): Promise<TlsIdentity>;
  /** Returns a number above those of all earlier calls to any host. */
  nextCall(): Promise<number>;
}

/** Nothing was sent. */
export class NotConnected extends ComputeError {
  constructor(message: string) {
    super('host', message);
  }
}

export class HostConnection {
  readonly #options: ConnectionOptions;
  #opening: Promise<ClientHttp2Session> | null = null;
  #failures = 0;
  #retryAt = 0;
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.backend.name;
  }

  /** Opens a stream for a POST. Throws `NotConnected`. */
  async request(path: string): Promise<ClientHttp2Stream> {
    const session = await this.#session();
    if (session.destroyed || session.closed) throw new NotConnected(`host ${this.name} is not responding`);
    return post(session, path);
  }

  close(): void {
    this.#isClosed = true;
    this.#opening?.then((session) => session.destroy()).catch(() => undefined);
  }

  async #session(): Promise<ClientHttp2Session> {
    if (this.#isClosed || (this.#opening === null && performance.now() < this.#retryAt)) {
      throw new NotConnected(`host ${this.name} is not responding`);
    }
    this.#opening ??= this.#open();
    return await this.#opening;
  }

  async #open(): Promise<ClientHttp2Session> {
    let session: ClientHttp2Session | undefined;
    try {
      session = await this.#connect();
      await withTimeout(this.#greet(session), CONNECT_TIMEOUT_MS);
      const stopPings = startPings(session);
      session.on('close', () => {
        stopPings();
        this.#opening = null;
      });
      this.#failures = 0;
      return session;
    } catch (error) {
      session?.destroy();
      this.#failures += 1;
      this.#retryAt = performance.now() + backoffMs(BACKOFF.backend, this.#failures);
      this.#opening = null;
      if (error instanceof NotConnected) throw error;
      throw new NotConnected(`host ${this.name} is not responding`);
    }
  }

  async #connect(): Promise<ClientHttp2Session> {
    const { backend, identity } = this.#options;
    return await openSession(backend.address, await identity(), (socket) => {
      if (peerProblem(socket, backend.fingerprint) === null) return;
      throw new NotConnected(`host ${this.name} presents an unexpected or expired certificate`);
    });
  }

  async #greet(session: ClientHttp2Session): Promise<void> {
    const hello: Hello = { versions: PROTOCOL_VERSIONS, call: await this.#options.nextCall() };
    const stream = post(session, '/v1/hello');
    stream.end(JSON.stringify(hello));
    const answer = parseJson(await readStream(stream, { maxBytes: ANSWER_MAX_BYTES }));
    if (ErrorAnswer.Check(answer)) throw new NotConnected(`host ${this.name}: ${answer.error.message}`);
    if (WelcomeAnswer.Check(answer) && PROTOCOL_VERSIONS.includes(answer.version)) return;
    throw new NotConnected(`host ${this.name} speaks another version: update Skerry on it`);
  }
}

/** Opens a session. `checkPeer` throws unless the peer is the right one; nothing is sent before. */
export async function openSession(
  address: string,
  identity: TlsIdentity,
  checkPeer: (socket: TLSSocket) => void,
): Promise<ClientHttp2Session> {
  const [, host = '', port = ''] = /^\[?(.+?)\]?:(\d+)$/.exec(address) ?? [];
  const options = { ...pinnedTlsOptions(identity), host, port: Number(port), ALPNProtocols: ['h2'] };
  const socket = connectTls(options);
  try {
    await withTimeout(secured(socket), CONNECT_TIMEOUT_MS);
    checkPeer(socket);
    const session = connect('https://skerry-host', { createConnection: () => socket });
    // Its streams fail with it, and they report it.
    session.on('error', () => undefined);
    session.unref();
    return session;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

export function post(session: ClientHttp2Session, path: string): ClientHttp2Stream {
  return session.request({ ':method': 'POST', ':path': path }, { endStream: false });
}

async function secured(socket: TLSSocket): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once('secureConnect', resolve);
  socket.once('error', reject);
  socket.once('close', () => reject(new Error('the connection was closed')));
  await promise;
}

function startPings(session: ClientHttp2Session): () => void {
  let answeredAt = performance.now();
  const timer = setInterval(() => {
    // Its 'close' event may come later.
    if (session.destroyed) return;
    if (performance.now() - answeredAt > PING_TIMEOUT_MS) {
      session.destroy();
      return;
    }
    session.ping((error) => {
      if (error === null) answeredAt = performance.now();
    });
  }, PING_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

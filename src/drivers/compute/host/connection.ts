/**
 * The control plane's connection to a host. It connects when it is first used and again after a failure, at
 * growing intervals. Pings notice a host that is silent, and all calls that wait for it then fail.
 */
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { BACKOFF, backoffMs } from '../../../kernel/backoff.ts';
import { SECOND_MS } from '../../../kernel/time.ts';
import { withTimeout } from '../../../kernel/timeout.ts';
import type { Backend, ControlPlaneCredentials } from '../../../ports/backends.ts';
import { ErrorAnswer, WelcomeAnswer } from './methods.ts';
import { readStream } from './read-stream.ts';
import { CONNECT_TIMEOUT_MS, NotConnected, openHostSession, post } from './session.ts';
import { ANSWER_MAX_BYTES, type Hello, PROTOCOL_VERSIONS, parseJson } from './wire.ts';

const PING_INTERVAL_MS = 2 * SECOND_MS;
const PING_TIMEOUT_MS = 4 * SECOND_MS;

export interface ConnectionOptions {
  readonly backend: Backend;
  /** Returns the certificates and keys of the control plane. */
  credentials(): Promise<ControlPlaneCredentials>;
  /** Returns a number above those of all earlier calls to any host. */
  nextCall(): Promise<number>;
  /** Default: all that this release speaks. */
  readonly versions?: readonly number[];
}

export class HostConnection {
  readonly #options: ConnectionOptions;
  #opening: Promise<ClientHttp2Session> | null = null;
  #failures = 0;
  #retryAt = 0;
  #isClosed = false;
  /** Of the protocol, as agreed in the latest greeting. */
  #version = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.backend.name;
  }

  /** Connects, and returns the version of the protocol that both sides speak. Throws `NotConnected`. */
  async version(): Promise<number> {
    await this.#session();
    return this.#version;
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
      session = await openHostSession(this.#options.backend, await this.#options.credentials());
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

  async #greet(session: ClientHttp2Session): Promise<void> {
    const versions = this.#options.versions ?? PROTOCOL_VERSIONS;
    const hello: Hello = { versions, call: await this.#options.nextCall() };
    const stream = post(session, '/v1/hello');
    stream.end(JSON.stringify(hello));
    const answer = parseJson(await readStream(stream, { maxBytes: ANSWER_MAX_BYTES }));
    if (ErrorAnswer.Check(answer)) throw new NotConnected(`host ${this.name}: ${answer.error.message}`);
    if (WelcomeAnswer.Check(answer) && versions.includes(answer.version)) {
      this.#version = answer.version;
      return;
    }
    throw new NotConnected(`host ${this.name} speaks another version: update Skerry on it`);
  }
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

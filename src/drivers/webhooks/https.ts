/**
 * Sends webhooks over https, to the public internet and nowhere else. The name is resolved here, every address it has is
 * looked at, and the connection goes to those addresses: what a resolver says a moment later changes nothing. Redirects are
 * answers like others. A receiver has so long for everything, name and handshake included, and its status line is the
 * answer: of what comes after it little is read, and for little time, only so that the connection can be used again. Where a
 * connection that was kept turns out to be dead, the request is made once more, over a new one.
 */
import { isIP } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';
import type { Agent, buildConnector, Dispatcher, Pool } from 'undici';
import { isForbiddenAddress } from '../../kernel/forbidden-address.ts';
import type { WebhookRequest, WebhookResponse, WebhookSender } from '../../ports/webhooks.ts';
import { LIMITS } from '../../spec/limits.ts';
import { type Resolve, resolveLocal, resolvePublic } from './resolve.ts';
import { ForbiddenAddress, HostNotResolved, isLocalFault, SenderClosed, toSendFault } from './send-faults.ts';

/** How long a body may take once the status line is there. */
const BODY_MAX_MS = 1_000;
/** Of one name; they are tried one after another. */
const ADDRESSES_MAX = 6;
const ADDRESS_ATTEMPT_TIMEOUT_MS = 500;
/** How long a connection is kept that nobody uses. */
const KEEP_ALIVE_MS = 4_000;

export interface HttpsSenderOptions {
  readonly timeoutMs: number;
  readonly allowLoopback: boolean;
  /** Certificates, PEM, that are trusted beside the public ones. */
  readonly ca?: string;
  /** All addresses of a name. */
  readonly resolve?: Resolve;
}

export class HttpsSender implements WebhookSender {
  readonly #options: HttpsSenderOptions;
  readonly #inFlight = new Set<Exchange>();
  #agentsPromise: Promise<Agents> | undefined;
  #agents: Agents | undefined;

  constructor(options: HttpsSenderOptions) {
    this.#options = options;
  }

  async send({ url, headers, body }: WebhookRequest): Promise<WebhookResponse> {
    const { pooled, fresh } = this.#agents ?? (await this.#loadAgents());
    const { origin, pathname, search } = new URL(url);
    const request = { origin, path: pathname + search, method: 'POST', headers, body } as const;
    const retry = () => void fresh.dispatch({ ...request, reset: true }, exchange);
    const exchange = new Exchange(this.#options.timeoutMs, retry);
    this.#inFlight.add(exchange);
    try {
      pooled.dispatch(request, exchange);
      return await exchange.answer;
    } finally {
      this.#inFlight.delete(exchange);
    }
  }

  async close(): Promise<void> {
    for (const exchange of this.#inFlight) exchange.abort();
    const agents = await this.#agentsPromise;
    await Promise.all([agents?.pooled.destroy(), agents?.fresh.destroy()]);
  }

  /** Once, when there is something to send: loading the library takes longer than a command may. */
  #loadAgents(): Promise<Agents> {
    this.#agentsPromise ??= import('undici').then((undici) => {
      this.#agents = openAgents(undici, this.#options);
      return this.#agents;
    });
    return this.#agentsPromise;
  }
}

interface Agents {
  /** Keeps connections, and tells an exchange whether it goes over one that was kept. */
  readonly pooled: Agent;
  /** For requests that end their connection: so each has a new one. */
  readonly fresh: Agent;
}

function openAgents(
  { Agent, buildConnector, Client, Pool }: typeof import('undici'),
  options: HttpsSenderOptions,
): Agents {
  class Connection extends Client {
    override dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      if (handler instanceof Exchange) handler.isReusedConnection = this.stats.connected;
      return super.dispatch(request, handler);
    }
  }
  const common = {
    connect: createCheckedConnector(buildConnector, options),
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // One clock for all of it is ours.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const factory = (origin: string | URL, more: Pool.Options) =>
    new Pool(origin, { ...more, factory: (one, each) => new Connection(one, each) });
  return { pooled: new Agent({ ...common, factory }), fresh: new Agent(common) };
}

/** One request and its answer, which is decided once. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<WebhookResponse>;
  /** The connection had served another request before. */
  isReusedConnection = false;
  #retry: (() => void) | undefined;
  #resolve: (answer: WebhookResponse) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;
  #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #status: number | undefined;
  #bytes = 0;
  #isDone = false;

  /** `again` makes the request once more, over a new connection. */
  constructor(timeoutMs: number, again: () => void) {
    this.#retry = again;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // What has come while this process was busy with something else has come in time: it is read first.
    this.#timer = setTimeout(() => setImmediate(() => this.#onAnswerTimeout()), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The connection came too late: nothing is written to it.
    if (this.#isDone) controller.abort(new SenderClosed());
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    // 103 Early Hints and the like are no answer yet.
    if (status < 200) return;
    this.#status = status;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#timeOut(), BODY_MAX_MS);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > LIMITS.webhookResponseMaxBytes) this.#timeOut();
  }

  onResponseEnd(): void {
    this.#finish();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isDone) return;
    if (this.#status === undefined && isLocalFault(error)) this.#fail(error);
    else if (!this.#tryRetry(error)) this.#finish({ fault: toSendFault(error) });
  }

  /** The receiver ends connections that are idle, and may have ended this one in the moment in which it was used. */
  #tryRetry(error: Error): boolean {
    const again = this.#retry;
    if (!again || !this.isReusedConnection || this.#status !== undefined) return false;
    if (toSendFault(error) !== 'connection reset') return false;
    this.#retry = undefined;
    again();
    return true;
  }

  /** Ends without an answer. */
  abort(): void {
    const error = new SenderClosed();
    if (!this.#isDone) this.#fail(error);
    this.#controller?.abort(error);
  }

  #onAnswerTimeout(): void {
    if (this.#status === undefined) this.#timeOut();
  }

  /** Time is up, or the body goes on and on. */
  #timeOut(): void {
    this.#finish({ fault: 'timeout' });
    this.#controller?.abort(new SenderClosed());
  }

  #finish(fallback: WebhookResponse = { fault: 'invalid answer' }): void {
    if (this.#isDone) return;
    this.#isDone = true;
    clearTimeout(this.#timer);
    this.#resolve(this.#status === undefined ? fallback : { status: this.#status });
  }

  #fail(error: Error): void {
    this.#isDone = true;
    clearTimeout(this.#timer);
    this.#reject(error);
  }
}

/** A connector that goes to checked addresses only. A literal is checked here: nobody is asked to resolve it. */
function createCheckedConnector(
  build: typeof buildConnector,
  options: HttpsSenderOptions,
): buildConnector.connector {
  const { allowLoopback, ca, resolve = allowLoopback ? resolveLocal : resolvePublic } = options;
  const connect = build({
    allowH2: false,
    timeout: options.timeoutMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_TIMEOUT_MS,
    // One for all connections: making it means reading all certificates.
    ...(ca === undefined ? {} : { secureContext: createSecureContext({ ca: [...rootCertificates, ca] }) }),
    lookup: (name, _options, done) => {
      resolve(name).then(
        (addresses) => {
          if (addresses.length === 0 || addresses.some((one) => isForbiddenAddress(one, options))) {
            done(new ForbiddenAddress(), []);
          } else {
            const tried = addresses.slice(0, ADDRESSES_MAX);
            done(
              null,
              tried.map((address) => ({ address, family: isIP(address) })),
            );
          }
        },
        (error: unknown) => done(new HostNotResolved({ cause: error }), []),
      );
    },
  });
  return (target, done) => {
    if (isIP(target.hostname) !== 0 && isForbiddenAddress(target.hostname, options)) {
      queueMicrotask(() => done(new ForbiddenAddress(), null));
    } else {
      connect(target, done);
    }
  };
}

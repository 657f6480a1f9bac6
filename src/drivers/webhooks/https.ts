/**
 * Sends webhooks over https to the public internet only. The name is resolved here, all of its addresses are
 * checked, and the connection goes to exactly those addresses, so that a later DNS change has no effect (DNS
 * rebinding). Redirects are ordinary responses. The timeout covers everything up to the status line, DNS and
 * handshake included. A little of the body is read, for a short time, only to reuse the connection. If a
 * kept-alive connection turns out to be dead, the request is sent once more over a new one.
 */
import { isIP } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';
import type { Agent, buildConnector, Dispatcher, Pool } from 'undici';
import { isForbiddenAddress } from '../../kernel/address-safety.ts';
import { loadOnce } from '../../kernel/faults/load-once.ts';
import type { WebhookRequest, WebhookResponse, WebhookSender } from '../../ports/webhooks.ts';
import { LIMITS } from '../../spec/limits.ts';
import { type Resolve, resolveLocal, resolvePublic } from './resolve.ts';
import { ForbiddenAddress, HostNotResolved, isLocalFault, SenderClosed, toSendFault } from './send-faults.ts';

/** Time limit for the body once the status line has arrived. */
const BODY_MAX_MS = 1_000;
/** Per host name; addresses are tried one after another. */
const ADDRESSES_MAX = 6;
const ADDRESS_ATTEMPT_TIMEOUT_MS = 500;
/** How long an idle connection is kept. */
const KEEP_ALIVE_MS = 4_000;

export interface HttpsSenderOptions {
  readonly timeoutMs: number;
  readonly allowLoopback: boolean;
  /** Certificates (PEM) to trust in addition to the public ones. */
  readonly ca?: string;
  /** Returns all addresses of a name. */
  readonly resolve?: Resolve;
}

export class HttpsSender implements WebhookSender {
  readonly #options: HttpsSenderOptions;
  readonly #inFlight = new Set<Exchange>();
  /** Loads the library with the first use: loading it takes longer than a CLI command may. */
  readonly #agents = loadOnce(async () => openAgents(await import('undici'), this.#options));
  #isUsed = false;

  constructor(options: HttpsSenderOptions) {
    this.#options = options;
  }

  async send({ url, headers, body }: WebhookRequest): Promise<WebhookResponse> {
    this.#isUsed = true;
    const { pooled, fresh } = await this.#agents();
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
    const agents = this.#isUsed ? await this.#agents().catch(() => null) : null;
    await Promise.all([agents?.pooled.destroy(), agents?.fresh.destroy()]);
  }
}

interface Agents {
  /** Keeps connections alive, and marks an exchange that reuses one. */
  readonly pooled: Agent;
  /** For requests that close their connection, so that each opens a new one. */
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
    // The exchange has its own timer for the whole request.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const factory = (origin: string | URL, more: Pool.Options) =>
    new Pool(origin, { ...more, factory: (target, each) => new Connection(target, each) });
  return { pooled: new Agent({ ...common, factory }), fresh: new Agent(common) };
}

/** One request and its response, which is settled once. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #outcome = Promise.withResolvers<WebhookResponse>();
  /** The connection already served another request. */
  isReusedConnection = false;
  #retry: (() => void) | undefined;
  #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #status: number | undefined;
  #bytes = 0;
  #isDone = false;

  /** `retry` sends the request once more, over a new connection. */
  constructor(timeoutMs: number, retry: () => void) {
    this.#retry = retry;
    // Data that arrived while this process was busy is in time: the event loop reads it first.
    const onTimeout = () => void (this.#status === undefined && this.#timeOut());
    this.#timer = setTimeout(() => setImmediate(onTimeout), timeoutMs);
  }

  get answer(): Promise<WebhookResponse> {
    return this.#outcome.promise;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The connection opened too late: write nothing to it.
    if (this.#isDone) controller.abort(new SenderClosed());
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    // 1xx, such as 103 Early Hints, is not the final response.
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

  /** The receiver may close an idle connection at the moment we use it. */
  #tryRetry(error: Error): boolean {
    const retry = this.#retry;
    if (!retry || !this.isReusedConnection || this.#status !== undefined) return false;
    if (toSendFault(error) !== 'connection reset') return false;
    this.#retry = undefined;
    retry();
    return true;
  }

  /** Ends the exchange without a response. */
  abort(): void {
    const error = new SenderClosed();
    if (!this.#isDone) this.#fail(error);
    this.#controller?.abort(error);
  }

  /** Ends the exchange on a timeout or an endless body. */
  #timeOut(): void {
    this.#finish({ fault: 'timeout' });
    this.#controller?.abort(new SenderClosed());
  }

  #finish(fallback: WebhookResponse = { fault: 'invalid answer' }): void {
    if (this.#isDone) return;
    this.#isDone = true;
    clearTimeout(this.#timer);
    this.#outcome.resolve(this.#status === undefined ? fallback : { status: this.#status });
  }

  #fail(error: Error): void {
    this.#isDone = true;
    clearTimeout(this.#timer);
    this.#outcome.reject(error);
  }
}

/** Connects only to checked addresses. IP literals are checked here, because they skip the lookup. */
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
    // One for all connections: creating it parses all certificates.
    ...(ca === undefined ? {} : { secureContext: createSecureContext({ ca: [...rootCertificates, ca] }) }),
    lookup: (name, _options, done) => {
      resolve(name).then(
        (addresses) => {
          if (addresses.length === 0 || addresses.some((each) => isForbiddenAddress(each, options))) {
            done(new ForbiddenAddress(), []);
          } else {
            const candidates = addresses.slice(0, ADDRESSES_MAX);
            done(
              null,
              candidates.map((address) => ({ address, family: isIP(address) })),
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

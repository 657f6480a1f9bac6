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
import type { WebhookAnswer, WebhookRequest, WebhookSender } from '../../ports/webhooks.ts';
import { LIMITS } from '../../spec/limits.ts';
import { ForbiddenAddress, faultOf, isOwnFault, SenderClosed, UnknownName } from './faults.ts';
import { type Resolve, resolveLocal, resolvePublic } from './resolve.ts';

/** How long a body may take once the status line is there. */
const BODY_MAX_MS = 1_000;
/** Of one name; they are tried one after another. */
const ADDRESSES_MAX = 6;
const ADDRESS_TRY_MS = 500;
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
  readonly #underWay = new Set<Exchange>();
  #opening: Promise<Agents> | undefined;
  #agents: Agents | undefined;

  constructor(options: HttpsSenderOptions) {
    this.#options = options;
  }

  async send({ url, headers, body }: WebhookRequest): Promise<WebhookAnswer> {
    const { keeping, fresh } = this.#agents ?? (await this.#open());
    const { origin, pathname, search } = new URL(url);
    const request = { origin, path: pathname + search, method: 'POST', headers, body } as const;
    const again = () => void fresh.dispatch({ ...request, reset: true }, exchange);
    const exchange = new Exchange(this.#options.timeoutMs, again);
    this.#underWay.add(exchange);
    try {
      keeping.dispatch(request, exchange);
      return await exchange.answer;
    } finally {
      this.#underWay.delete(exchange);
    }
  }

  async close(): Promise<void> {
    for (const exchange of this.#underWay) exchange.cut();
    const agents = await this.#opening;
    await Promise.all([agents?.keeping.destroy(), agents?.fresh.destroy()]);
  }

  /** Once, when there is something to send: loading the library takes longer than a command may. */
  #open(): Promise<Agents> {
    this.#opening ??= import('undici').then((undici) => {
      this.#agents = openAgents(undici, this.#options);
      return this.#agents;
    });
    return this.#opening;
  }
}

interface Agents {
  /** Keeps connections, and tells an exchange whether it goes over one that was kept. */
  readonly keeping: Agent;
  /** For requests that end their connection: so each has a new one. */
  readonly fresh: Agent;
}

function openAgents(
  { Agent, buildConnector, Client, Pool }: typeof import('undici'),
  options: HttpsSenderOptions,
): Agents {
  class Connection extends Client {
    override dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      if (handler instanceof Exchange) handler.isOverKept = this.stats.connected;
      return super.dispatch(request, handler);
    }
  }
  const common = {
    connect: checkedConnector(buildConnector, options),
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
  return { keeping: new Agent({ ...common, factory }), fresh: new Agent(common) };
}

/** One request and its answer, which is decided once. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<WebhookAnswer>;
  /** The connection had served another request before. */
  isOverKept = false;
  #again: (() => void) | undefined;
  #resolve: (answer: WebhookAnswer) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;
  #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #status: number | undefined;
  #bytes = 0;
  #over = false;

  /** `again` makes the request once more, over a new connection. */
  constructor(timeoutMs: number, again: () => void) {
    this.#again = again;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // What has come while this process was busy with something else has come in time: it is read first.
    this.#timer = setTimeout(() => setImmediate(() => this.#unanswered()), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The connection came too late: nothing is written to it.
    if (this.#over) controller.abort(new SenderClosed());
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    // 103 Early Hints and the like are no answer yet.
    if (status < 200) return;
    this.#status = status;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#late(), BODY_MAX_MS);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > LIMITS.webhookAnswerMaxBytes) this.#late();
  }

  onResponseEnd(): void {
    this.#end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#over) return;
    if (this.#status === undefined && isOwnFault(error)) this.#fail(error);
    else if (!this.#triedAgain(error)) this.#end({ fault: faultOf(error) });
  }

  /** The receiver ends connections that are idle, and may have ended this one in the moment in which it was used. */
  #triedAgain(error: Error): boolean {
    const again = this.#again;
    if (!again || !this.isOverKept || this.#status !== undefined) return false;
    if (faultOf(error) !== 'connection reset') return false;
    this.#again = undefined;
    again();
    return true;
  }

  /** Ends without an answer. */
  cut(): void {
    const error = new SenderClosed();
    if (!this.#over) this.#fail(error);
    this.#controller?.abort(error);
  }

  #unanswered(): void {
    if (this.#status === undefined) this.#late();
  }

  /** Time is up, or the body goes on and on. */
  #late(): void {
    this.#end({ fault: 'timeout' });
    this.#controller?.abort(new SenderClosed());
  }

  #end(otherwise: WebhookAnswer = { fault: 'invalid answer' }): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    this.#resolve(this.#status === undefined ? otherwise : { status: this.#status });
  }

  #fail(error: Error): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#reject(error);
  }
}

/** A connector that goes to checked addresses only. A literal is checked here: nobody is asked to resolve it. */
function checkedConnector(
  build: typeof buildConnector,
  options: HttpsSenderOptions,
): buildConnector.connector {
  const { allowLoopback, ca, resolve = allowLoopback ? resolveLocal : resolvePublic } = options;
  const connect = build({
    allowH2: false,
    timeout: options.timeoutMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TRY_MS,
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
        (error: unknown) => done(new UnknownName({ cause: error }), []),
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

/** Requests of a customer, and their event stream, while processes of the service come and go. */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Skerry } from '../../packages/sdk/src/index.ts';
import { SessionClient } from '../support/session-client.ts';
import { createApiToken } from '../support/v1-client.ts';

/** Callers that keep their connection, and those that open one for each request. */
const CALLERS = { kept: 6, fresh: 3 } as const;
/** So that a caller is sometimes idle when its connection closes. */
const PAUSES_MS = [0, 2, 20, 200];

const SLOW_MS = 7_000;
const TOKEN = { name: 'token', scope: 'read' };
const EVENTS_TIMEOUT_MS = 30_000;

/** For the service: the callers are one customer. */
export const RATES = {
  SKERRY_RATE_CAPACITY: '1000000',
  SKERRY_RATE_REFILL_PER_S: '100000',
  SKERRY_PROVISION_RATE_CAPACITY: '1000000',
  SKERRY_PROVISION_RATE_REFILL_PER_S: '100000',
};

export interface LoadResult {
  readonly requests: number;
  /** Answers other than expected, connections that broke, and gaps in the event stream. */
  readonly failures: readonly string[];
}

/** Sends requests until `work` is done. */
export async function underLoad(url: string, work: () => Promise<void>): Promise<LoadResult> {
  const session = SessionClient.forUrl(url);
  await session.signUp();
  const token = await createApiToken(session);
  const load = new Load(url, token);
  const reading = new AbortController();
  const kept = () => new Agent({ keepAlive: true, maxSockets: 1 });
  const opened = Promise.withResolvers<void>();
  const stream = { signal: reading.signal, onOpen: opened.resolve };
  const events = readEvents(new Skerry({ token, baseUrl: `${url}/v1` }), load, stream);
  await opened.promise;
  const callers = [
    events,
    load.hold(kept()),
    load.write(kept()),
    ...Array.from({ length: CALLERS.kept }, () => load.read(kept())),
    ...Array.from({ length: CALLERS.fresh }, () => load.read(false)),
  ];
  try {
    await work();
    await load.untilEventsArrived();
  } finally {
    load.stopped = true;
    reading.abort();
    await Promise.all(callers);
  }
  return { requests: load.requests, failures: load.failures };
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly agent: Agent | false;
  readonly body: object | undefined;
  readonly delayMs: number;
}

class Load {
  readonly failures: string[] = [];
  /** Tokens, and their events that the stream had. */
  created = 0;
  events = 0;
  requests = 0;
  stopped = false;
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#headers = { authorization: `Bearer ${token}` };
  }

  /** Reads until the load stops. Without an agent, each request opens a connection. */
  async read(agent: Agent | false): Promise<void> {
    const paths = ['/v1/account', '/v1/servers', '/v1/plans', '/', '/healthz'];
    for (let n = 0; !this.stopped; n++) {
      await this.#expect(200, 'GET', paths[n % paths.length] ?? '/', agent);
      await sleep(PAUSES_MS[n % PAUSES_MS.length]);
    }
  }

  /** A stream that hangs has no gap: wait for the last event. */
  async untilEventsArrived(): Promise<void> {
    const wanted = this.created;
    const deadline = performance.now() + EVENTS_TIMEOUT_MS;
    while (this.events < wanted && performance.now() < deadline) await sleep(50);
    if (this.events < wanted) this.failures.push(`${this.events} of ${wanted} events arrived`);
  }

  /** Requests whose bodies take longer than a process that stops keeps idle connections. */
  async hold(agent: Agent): Promise<void> {
    while (!this.stopped) {
      const made = await this.#expect(201, 'POST', '/v1/account/tokens', agent, TOKEN, SLOW_MS);
      // It follows immediately on the same connection.
      if (made !== null) await this.#expect(204, 'DELETE', `/v1/account/tokens/${made.id}`, agent);
    }
  }

  /** Creates and revokes tokens. */
  async write(agent: Agent): Promise<void> {
    while (!this.stopped) {
      const made = await this.#expect(201, 'POST', '/v1/account/tokens', agent, TOKEN);
      if (made !== null) await this.#expect(204, 'DELETE', `/v1/account/tokens/${made.id}`, agent);
      await sleep(20);
    }
  }

  async #expect(
    status: number,
    method: string,
    path: string,
    agent: Agent | false,
    body?: object,
    delayMs = 0,
  ): Promise<{ id: string } | null> {
    this.requests++;
    try {
      const answer = await this.#send({ method, path, agent, body, delayMs });
      if (answer.status === 201) this.created++;
      if (answer.status === status) return answer.text.startsWith('{') ? JSON.parse(answer.text) : null;
      this.failures.push(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 200)}`);
    } catch (error) {
      this.failures.push(`${method} ${path}: ${(error as Error).message}`);
    }
    return null;
  }

  async #send({ method, path, agent, body, delayMs }: Sent) {
    const text = body === undefined ? '' : JSON.stringify(body);
    const headers = { ...this.#headers, ...(body && { 'content-type': 'application/json' }) };
    const sent = request(new URL(path, this.#url), { method, agent, headers });
    const responded = once(sent, 'response');
    if (delayMs > 0) {
      sent.write(text.slice(0, 1));
      await Promise.race([responded, sleep(delayMs)]);
    }
    sent.end(delayMs > 0 ? text.slice(1) : text);
    const [response] = await responded;
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return { status: response.statusCode as number, text: Buffer.concat(chunks).toString('utf8') };
  }
}

/** Reads the event stream, which must go on without a gap. */
async function readEvents(
  client: Skerry,
  load: Load,
  options: { readonly signal: AbortSignal; readonly onOpen: () => void },
): Promise<void> {
  let last: number | null = null;
  try {
    for await (const event of client.events.stream(options)) {
      if (last !== null && event.seq !== last + 1) load.failures.push(`event ${event.seq} after ${last}`);
      last = event.seq;
      if (event.type === 'token.created') load.events++;
    }
  } catch (error) {
    if (!options.signal.aborted) load.failures.push(`the event stream ended: ${(error as Error).message}`);
  }
}

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
  const callers = [
    readEvents(new Skerry({ token, baseUrl: `${url}/v1` }), load, reading.signal),
    load.write(kept()),
    ...Array.from({ length: CALLERS.kept }, () => load.read(kept())),
    ...Array.from({ length: CALLERS.fresh }, () => load.read(false)),
  ];
  try {
    await work();
  } finally {
    load.stopped = true;
    reading.abort();
    await Promise.all(callers);
  }
  return { requests: load.requests, failures: load.failures };
}

class Load {
  readonly failures: string[] = [];
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

  /** Creates and revokes tokens. */
  async write(agent: Agent): Promise<void> {
    while (!this.stopped) {
      const made = await this.#expect(201, 'POST', '/v1/account/tokens', agent, { name: 't', scope: 'read' });
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
  ): Promise<{ id: string } | null> {
    this.requests++;
    try {
      const answer = await this.#send(method, path, agent, body);
      if (answer.status === status) return answer.text.startsWith('{') ? JSON.parse(answer.text) : null;
      this.failures.push(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 200)}`);
    } catch (error) {
      this.failures.push(`${method} ${path}: ${(error as Error).message}`);
    }
    return null;
  }

  async #send(method: string, path: string, agent: Agent | false, body?: object) {
    const text = body === undefined ? '' : JSON.stringify(body);
    const headers = { ...this.#headers, ...(body && { 'content-type': 'application/json' }) };
    const sent = request(new URL(path, this.#url), { method, agent, headers });
    const [response] = await Promise.all([once(sent, 'response'), sent.end(text)]).then(([[one]]) => [one]);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return { status: response.statusCode as number, text: Buffer.concat(chunks).toString('utf8') };
  }
}

/** Reads the event stream, which must go on without a gap. */
async function readEvents(client: Skerry, load: Load, signal: AbortSignal): Promise<void> {
  let last: number | null = null;
  try {
    for await (const event of client.events.stream({ signal })) {
      if (last !== null && event.seq !== last + 1) load.failures.push(`event ${event.seq} after ${last}`);
      last = event.seq;
    }
  } catch (error) {
    if (!signal.aborted) load.failures.push(`the event stream ended: ${(error as Error).message}`);
  }
}

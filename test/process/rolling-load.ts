/**
 * Requests while the processes of a service restart one after another. A script of its own, because it needs
 * a network namespace: `unshare --net node test/process/rolling-load.ts <restarts>`. Prints a
 * `RollingResult`.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Skerry } from '../../packages/sdk/src/index.ts';
import { type ProcessWorld, startProcesses } from './process-world.ts';

export interface RollingResult {
  readonly restarts: number;
  readonly requests: number;
  /** Answers other than expected, and connections that broke. */
  readonly failures: readonly string[];
  readonly stderr: string;
}

const PROCESSES = 2;
/** Callers that keep their connection, and those that open one for each request. */
const CALLERS = { kept: 6, fresh: 3 } as const;
const RESTART_TIMEOUT_MS = 120_000;
/** So that a caller is sometimes idle when its connection closes. */
const PAUSES_MS = [0, 2, 20, 200];

const SETTINGS = {
  SKERRY_RATE_CAPACITY: '1000000',
  SKERRY_RATE_REFILL_PER_S: '100000',
  SKERRY_PROVISION_RATE_CAPACITY: '1000000',
  SKERRY_PROVISION_RATE_REFILL_PER_S: '100000',
};

class Load {
  readonly failures: string[] = [];
  requests = 0;
  stopped = false;
  readonly #world: ProcessWorld;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(world: ProcessWorld, token: string) {
    this.#world = world;
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
    const sent = request(new URL(path, this.#world.serving.url), { method, agent, headers });
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

async function restartAll({ serving, children }: ProcessWorld): Promise<void> {
  const before = children();
  process.kill(serving.pid, 'SIGHUP');
  const deadline = performance.now() + RESTART_TIMEOUT_MS;
  for (;;) {
    const now = children();
    if (now.length === PROCESSES && !now.some((pid) => before.includes(pid))) return;
    if (performance.now() > deadline) throw new Error(`not restarted: ${before} and ${now}`);
    await sleep(50);
  }
}

async function run(restarts: number): Promise<RollingResult> {
  execFileSync('ip', ['link', 'set', 'lo', 'up']);
  execFileSync('sysctl', ['-qw', 'net.ipv4.tcp_migrate_req=1']);
  const world = await startProcesses(PROCESSES, SETTINGS);
  const { token } = await world.customer(0);
  const load = new Load(world, token);
  const reading = new AbortController();
  const kept = () => new Agent({ keepAlive: true, maxSockets: 1 });
  const callers = [
    readEvents(new Skerry({ token, baseUrl: `${world.serving.url}/v1` }), load, reading.signal),
    load.write(kept()),
    ...Array.from({ length: CALLERS.kept }, () => load.read(kept())),
    ...Array.from({ length: CALLERS.fresh }, () => load.read(false)),
  ];
  try {
    for (let n = 0; n < restarts; n++) await restartAll(world);
  } finally {
    load.stopped = true;
    reading.abort();
    await Promise.all(callers);
    await world.close();
  }
  const { stderr } = await world.serving.ended;
  return { restarts, requests: load.requests, failures: load.failures, stderr };
}

process.stdout.write(JSON.stringify(await run(Number(process.argv[2]))));

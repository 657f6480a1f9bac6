/**
 * Sends requests at a fixed rate, regardless of the responses, as many independent clients do. A request that
 * is sent late counts from the time at which it was due. A connection has one request at a time. When all are
 * in use, the next request waits.
 */
import { connect, type Socket } from 'node:net';
import { percentile } from './figure.ts';
import type { RequestSpec } from './load.ts';

/** Opened before the load. New connections are a bench of their own. */
export const CONNECTIONS = 1_000;
/** For the responses to the last requests. */
const DRAIN_MS = 20_000;
/** If the generator itself is later than this, the latencies are its own. */
const OWN_LAG_MAX_MS = 50;
const TICK_MS = 1;

export interface LoadResult {
  readonly sent: number;
  /** Responses with the expected status, with 503, and all others. */
  readonly served: number;
  readonly refused: number;
  readonly failed: number;
  /** Within the time of the load. */
  readonly servedPerS: number;
  /** Of served requests, and of refused ones. */
  readonly p99Ms: number;
  readonly refusedP99Ms: number;
  /** The share of a core that the generator used. */
  readonly ownCpu: number;
  /** How late the generator was to send, apart from waiting for a connection. */
  readonly ownLagP99Ms: number;
}

interface Pending {
  readonly dueMs: number;
  readonly done: (() => void) | undefined;
}

/** The status is null when the connection is closed. */
type OnEnd = (connection: Connection, pending: Pending | null, status: number | null) => void;

const HEAD_END = '\r\n\r\n';
/** Where the digits of the status are. */
const STATUS_PLACES = [9, 10, 11];
const ZERO = 48;

/** The data is read before the next connection's, so all share one buffer. */
const SHARED_BUFFER = Buffer.alloc(64 * 1024);

/**
 * The lengths of responses by status. One of a known length that arrives whole is not searched again, because
 * the generator's own work takes from what is measured.
 */
type Lengths = Map<number, number>;

/** One connection, and the response that it waits for. */
class Connection {
  pending: Pending | null = null;
  readonly #lengths: Lengths;
  #head = '';
  #status = 0;
  #missing = 0;
  readonly socket: Socket;

  constructor({ hostname, port }: URL, lengths: Lengths, onEnd: OnEnd) {
    this.#lengths = lengths;
    this.socket = connect({
      ...{ host: hostname, port: Number(port), noDelay: true },
      onread: {
        buffer: SHARED_BUFFER,
        callback: (length, data) => {
          if (this.#isComplete(data, length)) this.#end(onEnd, this.#status);
          return true;
        },
      },
    });
    this.socket.on('error', () => undefined);
    this.socket.once('close', () => this.#end(onEnd, null));
  }

  #end(onEnd: OnEnd, status: number | null): void {
    const { pending } = this;
    this.pending = null;
    onEnd(this, pending, status);
  }

  #isComplete(data: Uint8Array, length: number): boolean {
    if (this.#missing > 0) {
      this.#missing -= length;
      return this.#missing <= 0;
    }
    if (this.#head === '') {
      this.#status = STATUS_PLACES.reduce((status, at) => status * 10 + (data[at] ?? 0) - ZERO, 0);
      if (this.#lengths.get(this.#status) === length) return true;
    }
    this.#head += Buffer.from(data.buffer, data.byteOffset, length).toString('latin1');
    const headEnd = this.#head.indexOf(HEAD_END);
    if (headEnd < 0) return false;
    const bodyLength = Number(/\r\ncontent-length: *(\d+)/i.exec(this.#head)?.[1]);
    const total = headEnd + HEAD_END.length + bodyLength;
    this.#lengths.set(this.#status, total);
    this.#missing = total - this.#head.length;
    this.#head = '';
    return this.#missing <= 0;
  }
}

/** Many connections, over which it sends one request again and again. */
export class LoadClient {
  readonly #url: URL;
  readonly #status: number;
  readonly #request: Buffer;
  readonly #onServed: ((ms: number) => void) | undefined;
  /** The last used one is used first: the service closes those that are idle for long. */
  readonly #idle: Connection[] = [];
  readonly #waiting: Pending[] = [];
  readonly #all = new Set<Connection>();
  readonly #lengths: Lengths = new Map();
  #servedMs: number[] = [];
  #refusedMs: number[] = [];
  #ownLagsMs: number[] = [];
  #failed = 0;
  #servedInTime = 0;
  #cpu = process.cpuUsage();
  #connectionsMax = 0;
  #startedAtMs = 0;
  #endsAtMs = 0;
  pending = 0;

  /** `onServed` receives the time of each expected response, in milliseconds. */
  constructor(
    url: string,
    { method = 'GET', path, headers = {}, body = '', status }: RequestSpec,
    onServed?: (ms: number) => void,
  ) {
    this.#url = new URL(url);
    this.#status = status;
    this.#onServed = onServed;
    const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const lines = Object.entries({ host: this.#url.host, ...headers, ...length }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    this.#request = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  }

  /** Opens connections. Each is used once, so that the service has accepted it. */
  async open(count: number): Promise<void> {
    this.#connectionsMax += count;
    for (let n = 0; n < count; n++) {
      await new Promise<void>((resolve) => {
        this.send(performance.now(), resolve, this.#open());
      });
    }
  }

  start(seconds: number): number {
    this.#servedMs = [];
    this.#refusedMs = [];
    this.#ownLagsMs = [];
    this.#failed = 0;
    this.#servedInTime = 0;
    this.#cpu = process.cpuUsage();
    this.#startedAtMs = performance.now();
    this.#endsAtMs = this.#startedAtMs + seconds * 1_000;
    return this.#startedAtMs;
  }

  get isOver(): boolean {
    return performance.now() >= this.#endsAtMs;
  }

  send(dueMs: number, done?: () => void, chosen?: Connection): void {
    this.pending += 1;
    const pending = { dueMs, done };
    const connection = chosen ?? this.#idle.pop() ?? this.#reopen();
    this.#ownLagsMs.push(performance.now() - dueMs);
    if (connection) this.#sendOn(connection, pending);
    else this.#waiting.push(pending);
  }

  close(): void {
    for (const { socket } of this.#all) socket.destroy();
  }

  result(sent: number, seconds: number): LoadResult {
    const cpu = process.cpuUsage(this.#cpu);
    return {
      sent,
      ...{ served: this.#servedMs.length, refused: this.#refusedMs.length },
      failed: this.#failed + this.pending,
      servedPerS: this.#servedInTime / seconds,
      p99Ms: percentile(this.#servedMs, 0.99),
      refusedP99Ms: percentile(this.#refusedMs, 0.99),
      ownCpu: (cpu.user + cpu.system) / 1_000 / (performance.now() - this.#startedAtMs),
      ownLagP99Ms: percentile(this.#ownLagsMs, 0.99),
    };
  }

  #sendOn(connection: Connection, pending: Pending): void {
    connection.pending = pending;
    connection.socket.write(this.#request);
  }

  #open(): Connection {
    const connection = new Connection(this.#url, this.#lengths, (...ended) => this.#end(...ended));
    this.#all.add(connection);
    return connection;
  }

  /** Replaces a connection that the service closed. */
  #reopen(): Connection | undefined {
    return this.#all.size < this.#connectionsMax ? this.#open() : undefined;
  }

  #forget(connection: Connection): void {
    this.#all.delete(connection);
    const place = this.#idle.indexOf(connection);
    if (place >= 0) this.#idle.splice(place, 1);
  }

  #end(connection: Connection, ended: Pending | null, status: number | null): void {
    if (status === null) this.#forget(connection);
    if (!ended) return;
    this.pending -= 1;
    const now = performance.now();
    if (status === this.#status) {
      this.#servedMs.push(now - ended.dueMs);
      this.#onServed?.(now - ended.dueMs);
      if (now <= this.#endsAtMs) this.#servedInTime += 1;
    } else if (status === 503) this.#refusedMs.push(now - ended.dueMs);
    else this.#failed += 1;
    if (status !== null) {
      const next = this.#waiting.shift();
      if (next) this.#sendOn(connection, next);
      else this.#idle.push(connection);
    }
    ended.done?.();
  }
}

/** Sends `perS` requests a second. */
export async function openLoop(
  client: LoadClient,
  { perS, seconds }: { readonly perS: number; readonly seconds: number },
): Promise<LoadResult> {
  const startedAt = client.start(seconds);
  const count = Math.floor(perS * seconds);
  for (let sent = 0; sent < count; await nextTurn()) {
    const due = Math.min(Math.floor(((performance.now() - startedAt) / 1_000) * perS), count);
    for (; sent < due; sent++) client.send(startedAt + (sent / perS) * 1_000);
  }
  const drainUntil = performance.now() + DRAIN_MS;
  while (client.pending > 0 && performance.now() < drainUntil) await nextTurn();
  return client.result(count, seconds);
}

/** Whether the latencies are those of the service, and not the generator's own. */
export function isGeneratorInTime({ ownLagP99Ms }: LoadResult): boolean {
  return ownLagP99Ms <= OWN_LAG_MAX_MS;
}

/** Keeps `callers` requests in progress: what the service can answer. */
export async function closedLoop(
  client: LoadClient,
  { callers, seconds }: { readonly callers: number; readonly seconds: number },
): Promise<LoadResult> {
  client.start(seconds);
  let sent = 0;
  const caller = async () => {
    for (; !client.isOver; sent++) {
      await new Promise<void>((resolve) => client.send(performance.now(), resolve));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return client.result(sent, seconds);
}

async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, TICK_MS));
}

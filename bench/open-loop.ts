/**
 * Sends requests at a fixed rate, regardless of the responses, as many independent clients do. A request that
 * is sent late counts from the time at which it was due.
 */
import { connect, type Socket } from 'node:net';
import type { RequestSpec } from './load.ts';

const CONNECTIONS_MAX = 4_000;
/** For the responses to the last requests. */
const DRAIN_MS = 20_000;

export interface LoadResult {
  readonly sent: number;
  /** Responses with the expected status, and 503. */
  readonly served: number;
  readonly refused: number;
  readonly failed: number;
  /** Within the time of the load. */
  readonly servedPerS: number;
  /** Of served requests. */
  readonly p99Ms: number;
}

class Client {
  readonly #url: URL;
  readonly #status: number;
  readonly #request: Buffer;
  readonly #idle: Socket[] = [];
  readonly #all = new Set<Socket>();
  readonly latenciesMs: number[] = [];
  refused = 0;
  failed = 0;
  pending = 0;
  servedInTime = 0;
  readonly endsAtMs: number;

  constructor(url: string, { method = 'GET', path, headers = {}, status }: RequestSpec, seconds: number) {
    this.endsAtMs = performance.now() + seconds * 1_000;
    this.#url = new URL(url);
    this.#status = status;
    const lines = Object.entries({ host: this.#url.host, ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    this.#request = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  }

  send(dueMs: number, done: () => void = () => undefined): void {
    const socket = this.#idle.pop() ?? this.#open();
    if (!socket) {
      this.failed += 1;
      done();
      return;
    }
    this.pending += 1;
    let received = '';
    const end = (status: number | null) => {
      socket.removeAllListeners('data').removeAllListeners('close');
      this.pending -= 1;
      const now = performance.now();
      if (status === this.#status) {
        this.latenciesMs.push(now - dueMs);
        if (now <= this.endsAtMs) this.servedInTime += 1;
      }
      if (status === 503) this.refused += 1;
      if (status !== 503 && status !== this.#status) this.failed += 1;
      if (status === null) this.#all.delete(socket);
      else this.#idle.push(socket);
      done();
    };
    socket.on('data', (data) => {
      received += data.toString('latin1');
      const headEnd = received.indexOf('\r\n\r\n');
      const length = /content-length: (\d+)/i.exec(received)?.[1];
      if (headEnd > 0 && received.length >= headEnd + 4 + Number(length)) end(Number(received.slice(9, 12)));
    });
    socket.once('close', () => end(null));
    socket.write(this.#request);
  }

  close(): void {
    for (const socket of this.#all) socket.destroy();
  }

  #open(): Socket | null {
    if (this.#all.size >= CONNECTIONS_MAX) return null;
    const socket = connect(Number(this.#url.port), this.#url.hostname).on('error', () => undefined);
    this.#all.add(socket);
    return socket;
  }

  result(sent: number, seconds: number): LoadResult {
    const sorted = this.latenciesMs.sort((a, b) => a - b);
    return {
      sent,
      ...{ served: sorted.length, refused: this.refused, failed: this.failed },
      servedPerS: this.servedInTime / seconds,
      p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
    };
  }
}

/** Sends `perS` requests a second. */
export async function openLoop(
  url: string,
  spec: RequestSpec,
  { perS, seconds }: { readonly perS: number; readonly seconds: number },
): Promise<LoadResult> {
  const client = new Client(url, spec, seconds);
  const startedAt = performance.now();
  let sent = 0;
  for (; performance.now() - startedAt < seconds * 1_000; await nextTurn()) {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * perS);
    for (; sent < due; sent++) client.send(startedAt + (sent / perS) * 1_000);
  }
  const drainUntil = performance.now() + DRAIN_MS;
  while (client.pending > 0 && performance.now() < drainUntil) await nextTurn();
  client.close();
  return client.result(sent, seconds);
}

/** Keeps `callers` requests in progress: what the service can answer. */
export async function closedLoop(
  url: string,
  spec: RequestSpec,
  { callers, seconds }: { readonly callers: number; readonly seconds: number },
): Promise<LoadResult> {
  const client = new Client(url, spec, seconds);
  let sent = 0;
  const caller = async () => {
    for (; performance.now() < client.endsAtMs; sent++) {
      await new Promise<void>((resolve) => client.send(performance.now(), resolve));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  client.close();
  return client.result(sent, seconds);
}

async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Counts the work that an operation causes: calls to a node by method, and database statements by text. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Database, Sql } from '../../src/kernel/sql.ts';

export class CallCounter {
  #counts = new Map<string, number>();

  add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** Returns the counts since the last call, sorted by name, and resets them. */
  drain(): Readonly<Record<string, number>> {
    const counts = [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1));
    this.#counts = new Map();
    return Object.fromEntries(counts);
  }
}

/** Wraps a database so that its statements are counted by their text. */
export function countingDatabase(db: Database, counter: CallCounter): Database {
  return {
    ...countingSql(db, counter),
    transaction: (work) => db.transaction((tx) => work(countingSql(tx, counter))),
  };
}

function countingSql(sql: Sql, counter: CallCounter): Sql {
  const counted = (text: string) => {
    counter.add(text.replace(/\s+/g, ' ').trim());
    return text;
  };
  return {
    rows: (text, values) => sql.rows(counted(text), values),
    row: (text, values) => sql.row(counted(text), values),
    run: (text, values) => sql.run(counted(text), values),
  };
}

/**
 * Sits between a driver and its node. Forwards everything and counts JSON-RPC calls by method, others by
 * path.
 */
export class CountingProxy {
  readonly url: string;
  readonly #server: ReturnType<typeof createServer>;

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(nodeUrl: string, counter: CallCounter): Promise<CountingProxy> {
    const server = createServer((incoming, response) => {
      forward(incoming, response, { nodeUrl, counter }).catch(() => response.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new CountingProxy(server);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

async function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  { nodeUrl, counter }: { readonly nodeUrl: string; readonly counter: CallCounter },
): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  const body = Buffer.concat(parts);
  for (const name of callNames(body, incoming.url ?? '/')) counter.add(name);
  const { method, headers } = incoming;
  const outgoing = request(nodeUrl + (incoming.url ?? ''), { method, headers });
  outgoing.end(body);
  const [upstream] = (await once(outgoing, 'response')) as [IncomingMessage];
  response.writeHead(upstream.statusCode ?? 500, upstream.headers);
  upstream.pipe(response);
}

function callNames(body: Buffer, path: string): readonly string[] {
  const calls = JSON.parse(body.toString() || '{}') as { method?: string } | { method?: string }[];
  return [calls].flat().map(({ method }) => method ?? path);
}

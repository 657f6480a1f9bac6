/** What a piece of work asks: calls to a node and statements to a database, by what they are. */
import { once } from 'node:events';
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Database, Sql } from '../../src/kernel/sql.ts';

export class CallCounter {
  #counts = new Map<string, number>();

  add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** How often each was asked since the last time, in the order of their names. */
  drain(): Readonly<Record<string, number>> {
    const asked = [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1));
    this.#counts = new Map();
    return Object.fromEntries(asked);
  }
}

/** The same database, whose statements are counted by their text. */
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

/** Between a driver and its node: hands everything on as it is, and counts each call of JSON-RPC by its method, others by their path. */
export class CountingProxy {
  readonly url: string;
  readonly #server: ReturnType<typeof createServer>;

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(nodeUrl: string, counter: CallCounter): Promise<CountingProxy> {
    const server = createServer((request, response) => {
      forward(request, response, { nodeUrl, counter }).catch(() => response.destroy());
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
  request: IncomingMessage,
  response: ServerResponse,
  { nodeUrl, counter }: { readonly nodeUrl: string; readonly counter: CallCounter },
): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = Buffer.concat(parts);
  for (const name of callNames(body, request.url ?? '/')) counter.add(name);
  const { method, headers } = request;
  const upstream = ask(nodeUrl + (request.url ?? ''), { method, headers });
  upstream.end(body);
  const [answer] = (await once(upstream, 'response')) as [IncomingMessage];
  response.writeHead(answer.statusCode ?? 500, answer.headers);
  answer.pipe(response);
}

function callNames(body: Buffer, path: string): readonly string[] {
  const calls = JSON.parse(body.toString() || '{}') as { method?: string } | { method?: string }[];
  return [calls].flat().map(({ method }) => method ?? path);
}

/** What a piece of work asks: calls to a node and statements to a database, by what they are. */
import { once } from 'node:events';
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Database, Sql } from '../../src/kernel/sql.ts';

export class Counter {
  #asked = new Map<string, number>();

  add(what: string): void {
    this.#asked.set(what, (this.#asked.get(what) ?? 0) + 1);
  }

  /** How often each was asked since the last time, in the order of their names. */
  take(): Readonly<Record<string, number>> {
    const asked = [...this.#asked].sort(([a], [b]) => (a < b ? -1 : 1));
    this.#asked = new Map();
    return Object.fromEntries(asked);
  }
}

/** The same database, whose statements are counted by their text. */
export function countedDatabase(db: Database, counter: Counter): Database {
  return {
    ...countedSql(db, counter),
    transaction: (work) => db.transaction((tx) => work(countedSql(tx, counter))),
  };
}

function countedSql(sql: Sql, counter: Counter): Sql {
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
export class CountedNode {
  readonly url: string;
  readonly #server: ReturnType<typeof createServer>;

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(nodeUrl: string, counter: Counter): Promise<CountedNode> {
    const server = createServer((request, response) => {
      handOn(request, response, { nodeUrl, counter }).catch(() => response.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new CountedNode(server);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

async function handOn(
  request: IncomingMessage,
  response: ServerResponse,
  { nodeUrl, counter }: { readonly nodeUrl: string; readonly counter: Counter },
): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = Buffer.concat(parts);
  for (const what of namesOf(body, request.url ?? '/')) counter.add(what);
  const { method, headers } = request;
  const onward = ask(nodeUrl + (request.url ?? ''), { method, headers });
  onward.end(body);
  const [answer] = (await once(onward, 'response')) as [IncomingMessage];
  response.writeHead(answer.statusCode ?? 500, answer.headers);
  answer.pipe(response);
}

function namesOf(body: Buffer, path: string): readonly string[] {
  const asked = JSON.parse(body.toString() || '{}') as { method?: string } | { method?: string }[];
  return [asked].flat().map(({ method }) => method ?? path);
}

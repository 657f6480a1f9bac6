/** Events as the fan-out stores them, and an event stream client that reads at any speed. */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { newId, newPublicNumber, newSecretToken } from '../../../src/kernel/ids.ts';
import { digest } from '../../../src/kernel/secrets.ts';
import type { Sql } from '../../../src/kernel/sql.ts';
import type { Scope } from '../../../src/spec/scopes.ts';
import { insertCustomer } from '../../../src/store/customers/customers.ts';
import { insertToken } from '../../../src/store/customers/tokens.ts';
import type { JsonBody } from '../../support/v1-client.ts';
import type { HttpWorld } from '../http-world.ts';

/** Longer than any wait for an event. After this, it will not arrive. */
const WAIT_MAX_MS = 5_000;

/** Creates numbered events of these types, in this order, in one commit. */
export async function publish(sql: Sql, customerId: string, types: readonly string[]): Promise<void> {
  await sql.run(
    `with counted as (
       insert into event_counters (customer_id, last_seq) values ($1, cardinality($2::text[]))
       on conflict (customer_id) do update set last_seq = event_counters.last_seq + excluded.last_seq
       returning last_seq - cardinality($2::text[]) as before)
     insert into events (id, customer_id, type, data, created_at, seq)
     select gen_random_uuid(), $1, type, $3, now(), before + n
       from counted, unnest($2::text[]) with ordinality as t (type, n)`,
    [customerId, types, JSON.stringify({ server: { id: 'srv_x', note: randomUUID() } })],
  );
}

export interface Message {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: JsonBody;
}

export class StreamClient {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  readonly status: number;
  readonly headers: Headers;
  /** All received text. */
  text = '';
  #read = 0;
  ended = false;
  /** The value that a browser would send when it reconnects. */
  lastEventId = '';

  private constructor(response: Response) {
    if (!response.body) throw new Error('a response without a body');
    this.status = response.status;
    this.headers = response.headers;
    this.#reader = response.body.getReader();
  }

  static async open(
    url: string,
    token: string,
    extra: Readonly<Record<string, string>> = {},
  ): Promise<StreamClient> {
    return await StreamClient.with(url, {
      authorization: `Bearer ${token}`,
      'x-service-beta': 'true',
      ...extra,
    });
  }

  static async with(url: string, headers: Readonly<Record<string, string>>): Promise<StreamClient> {
    return new StreamClient(await fetch(url, { headers }));
  }

  /** Reads the next block of lines. Returns undefined at the end. */
  async block(): Promise<string | undefined> {
    for (;;) {
      const end = this.text.indexOf('\n\n', this.#read);
      if (end >= 0) {
        const block = this.text.slice(this.#read, end);
        this.#read = end + 2;
        return block;
      }
      if (this.ended) return undefined;
      const { value, done } = await withTimeout(this.#reader.read());
      if (done) this.ended = true;
      else this.text += this.#decoder.decode(value, { stream: true });
    }
  }

  /** Reads the next message with data. Returns undefined at the end. */
  async message(): Promise<Message | undefined> {
    for (let block = await this.block(); block !== undefined; block = await this.block()) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
      this.lastEventId = field('id') ?? this.lastEventId;
      const data = field('data');
      if (data !== undefined) return { id: field('id'), event: field('event'), data: JSON.parse(data) };
    }
    return undefined;
  }

  async messages(count: number): Promise<Message[]> {
    const got: Message[] = [];
    while (got.length < count) {
      const next = await this.message();
      if (!next)
        throw new Error(`the stream ended after ${got.length} of ${count}: ${this.text.slice(-200)}`);
      got.push(next);
    }
    return got;
  }

  async close(): Promise<void> {
    // A closed stream emits the error once more.
    await this.#reader.cancel().catch(() => undefined);
  }
}

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing arrived for ${WAIT_MAX_MS} ms`)), WAIT_MAX_MS);
  });
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

export interface Subscriber {
  readonly customerId: string;
  /** By scope. */
  readonly read: string;
  readonly billing: string;
}

/** Creates a customer with two tokens without the work of a password. */
export async function createSubscriber({ db, clock }: HttpWorld): Promise<Subscriber> {
  const now = clock.now();
  const customerId = newId(now);
  const email = `${customerId}@example.org`;
  await insertCustomer(db, {
    ...{ id: customerId, publicNo: newPublicNumber(), email, emailKey: email, createdAt: now },
    ...{ passwordHash: 'none', recoveryDigest: digest('none') },
  });
  const token = async (scope: Scope) => {
    const text = `skerry_live_${newSecretToken(32)}`;
    const fixed = { customerId, name: scope, expiresAt: null, createdAt: now };
    await insertToken(db, { ...fixed, id: newId(now), scope, digest: digest(text) });
    return text;
  };
  return { customerId, read: await token('read'), billing: await token('billing') };
}

/** Listens and returns the URL of the stream. */
export async function listen({ app }: HttpWorld): Promise<string> {
  await app.listen({ port: 0, host: '127.0.0.1' });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/v1/events`;
}

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { follow, Refused } from '../../../docs/samples/events/follow.ts';
import { EventStreams } from '../../../src/domain/events/streams.ts';
import { LIMITS } from '../../../src/spec/limits.ts';
import { IS_FULL_RUN, PROPERTY_RUNS } from '../../support/runs.ts';
import { assertApiError, V1Client } from '../../support/v1-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';
import {
  createSubscriber,
  listen,
  type Message,
  publish,
  StreamClient,
  type Subscriber,
} from './events-world.ts';

const BETA = { headers: { 'x-service-beta': 'true' } };

describe('the event stream', () => {
  let world: HttpWorld;
  let streams: EventStreams;
  let url: string;
  let me: Subscriber;
  const clients: StreamClient[] = [];

  before(async () => {
    world = await startHttpWorld({ streams: (service) => (streams = new EventStreams(service)) });
    url = await listen(world);
    me = await createSubscriber(world);
  });
  after(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await world.close();
  });

  async function open(
    token: string,
    query = '',
    headers: Record<string, string> = {},
  ): Promise<StreamClient> {
    const client = await StreamClient.open(`${url}${query}`, token, headers);
    clients.push(client);
    assert.equal(client.status, 200);
    return client;
  }
  async function emit(to: Subscriber, ...types: string[]): Promise<void> {
    await publish(world.db, to.customerId, types);
    streams.wake();
  }
  const typesOf = (messages: readonly Message[]) => messages.map(({ id, event }) => `${id} ${event}`);

  it('an event stream starts now and sends events live, with envelope and number', async () => {
    await emit(me, 'server.created');
    const client = await open(me.read);
    assert.equal(await client.block(), 'retry: 3000\nid: 1');
    await emit(me, 'server.running', 'server.stopped');
    const [running, stopped] = await client.messages(2);
    assert.ok(running && stopped);
    assert.deepEqual(typesOf([running, stopped]), ['2 server.running', '3 server.stopped']);
    const { id, created_at: createdAt, data, ...rest } = running.data;
    assert.match(id, /^evt_[a-z2-7]{26}$/);
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.deepEqual(Object.keys(data), ['server']);
    assert.deepEqual(rest, { object: 'event', type: 'server.running', seq: 2 });
    assert.equal(client.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(client.headers.get('cache-control'), 'no-store');
    assert.equal(client.headers.get('access-control-allow-origin'), '*');
    assert.match(client.headers.get('x-request-id') ?? '', /^req_/);
    assert.match(client.headers.get('x-ratelimit-remaining') ?? '', /^\d+$/);
  });

  it('an event stream sends missed events first, and Last-Event-ID takes precedence over after', async () => {
    const other = await createSubscriber(world);
    await emit(other, ...Array.from({ length: 150 }, () => 'server.stopped'));
    const client = await open(other.read, '?after=0');
    assert.deepEqual((await client.messages(150)).at(-1)?.id, '150');
    const again = await open(other.read, '?after=0', { 'last-event-id': '148' });
    assert.deepEqual(typesOf(await again.messages(2)), ['149 server.stopped', '150 server.stopped']);
    await emit(other, 'server.running');
    assert.deepEqual(typesOf(await again.messages(1)), ['151 server.running']);
    assert.deepEqual(typesOf(await client.messages(1)), ['151 server.running']);
  });

  it('an event stream has no gaps, duplicates, or reordering, however often clients reconnect', async () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ emit: fc.integer({ min: 1, max: 80 }) }),
        fc.record({ take: fc.integer({ min: 1, max: 60 }) }),
        fc.constant({ leave: true } as const),
      ),
      { minLength: 5, maxLength: 14 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (plan) => {
        const other = await createSubscriber(world);
        let emitted = 0;
        const got: number[] = [];
        let client = await open(other.billing, '?after=0');
        for (const step of plan) {
          if ('emit' in step) {
            emitted += step.emit;
            await emit(other, ...Array.from({ length: step.emit }, () => 'billing.charged'));
          } else if ('take' in step) {
            const some = await client.messages(Math.min(step.take, emitted - got.length));
            got.push(...some.map((message) => message.data.seq));
          } else {
            await client.close();
            client = await open(other.billing, '', { 'last-event-id': String(got.at(-1) ?? 0) });
          }
        }
        const rest = await client.messages(emitted - got.length);
        got.push(...rest.map((message) => message.data.seq));
        assert.deepEqual(
          got,
          Array.from({ length: emitted }, (_, n) => n + 1),
        );
        await client.close();
      }),
      { numRuns: Math.ceil(PROPERTY_RUNS / 4) },
    );
  });

  it('an event stream skips events about money below the billing scope', async () => {
    const other = await createSubscriber(world);
    const [narrow, wide] = [await open(other.read), await open(other.billing)];
    await emit(
      other,
      'billing.charged',
      'server.running',
      'topup.pending',
      'topup.confirmed',
      'token.created',
    );
    await emit(other, 'billing.low_balance');
    assert.deepEqual(typesOf(await narrow.messages(2)), ['2 server.running', '5 token.created']);
    assert.equal((await wide.messages(6)).at(-1)?.event, 'billing.low_balance');
    await emit(other, 'volume.attached');
    assert.deepEqual(typesOf(await narrow.messages(1)), ['7 volume.attached']);
    assert.doesNotMatch(narrow.text, /billing|topup/);
  });

  it('a position outside the stored events is rejected with its field and the bound', async () => {
    const api = V1Client.forApp(world.app, me.read);
    await emit(me, 'server.stopped', 'server.stopped', 'server.running');
    await world.db.run('delete from events where customer_id = $1 and seq in (1, 2, 4)', [me.customerId]);
    for (const [text, item] of [
      ['7', { field: 'after', issue: 'max', max: 6 }],
      ['0', { field: 'after', issue: 'min', min: 2 }],
      ['1', { field: 'after', issue: 'min', min: 2 }],
      ['3', { field: 'after', issue: 'min', min: 4 }],
      ['-1', { field: 'after', issue: 'min', min: 0 }],
      ['x', { field: 'after', issue: 'invalid_type', expected: 'integer' }],
      ['', { field: 'after', issue: 'invalid_type', expected: 'integer' }],
      ['1.5', { field: 'after', issue: 'invalid_type', expected: 'integer' }],
      ['9'.repeat(20), { field: 'after', issue: 'max', max: 6 }],
      ['9'.repeat(400), { field: 'after', issue: 'max', max: 6 }],
    ] as const) {
      const answer = await api.get(`/events?after=${text}`, BETA);
      assert.deepEqual(assertApiError(answer, 400, 'invalid_request'), [item], text);
      if (text === '') continue;
      const headers = { ...BETA.headers, 'last-event-id': text };
      const items = assertApiError(await api.get('/events?after=5', { headers }), 400, 'invalid_request');
      assert.deepEqual(items, [{ ...item, field: 'Last-Event-ID' }], text);
    }
    const empty = await api.get('/events?after=5', { headers: { ...BETA.headers, 'last-event-id': '' } });
    assert.match(empty.text, /^retry: 3000\nid: 5\n/);
    assert.equal((await api.get('/events?after=2', BETA)).status, 200);
    const [item] = assertApiError(await api.get('/events?after=2&after=3', BETA), 400, 'invalid_request');
    assert.equal(item.field, 'after');
  });

  it('an event stream ends if the next event is no longer stored', async () => {
    const other = await createSubscriber(world);
    await emit(other, 'server.created', 'server.running', 'server.stopped');
    await world.db.run('delete from events where customer_id = $1 and seq = 2', [other.customerId]);
    const client = await open(other.read, '?after=0');
    assert.equal(await client.message(), undefined);
    assert.match(client.text, /: the next event is no longer stored\n\n$/);
  });

  it('an event stream without the beta header is rejected with its name', async () => {
    const answer = await V1Client.forApp(world.app, me.read).get('/events');
    assert.deepEqual(assertApiError(answer, 400, 'invalid_request'), [
      { field: 'X-Service-Beta', issue: 'required' },
    ]);
  });

  it('HEAD on the event stream answers like GET without opening a stream', async () => {
    const headers = { authorization: `Bearer ${me.read}`, 'x-service-beta': 'true' };
    for (let n = 0; n <= LIMITS.eventStreamsPerCustomer; n++) {
      const response = await fetch(url, { method: 'HEAD', headers });
      assert.equal(response.status, 200);
      assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
      assert.equal(await response.text(), '');
    }
  });

  it('an event stream ends when its token is revoked or expires, or its customer is deleted', async () => {
    for (const [sql, what] of [
      ['delete from api_tokens where customer_id = $1', 'revoked'],
      [`update api_tokens set expires_at = now() - interval '1 second' where customer_id = $1`, 'expired'],
      ['update customers set deleting_at = now() where id = $1', 'gone'],
    ] as const) {
      const other = await createSubscriber(world);
      const client = await open(other.read);
      await client.block();
      await world.db.run(sql, [other.customerId]);
      await emit(other, 'server.stopped');
      assert.equal(await client.message(), undefined, what);
      assert.match(client.text, /: the token was revoked or has expired\n\n$/);
    }
  });

  it('event streams are limited per customer, and closing one frees a slot', async () => {
    const other = await createSubscriber(world);
    const opened = await Promise.all(
      Array.from({ length: LIMITS.eventStreamsPerCustomer }, () => open(other.read)),
    );
    const api = V1Client.forApp(world.app, other.billing);
    assertApiError(await api.get('/events', BETA), 409, 'conflict_state');
    await open(me.read);
    await opened[0]?.close();
    const deadline = Date.now() + 5_000;
    let answer = await api.get('/events', BETA);
    while (answer.status === 409 && Date.now() < deadline) answer = await api.get('/events', BETA);
    assert.equal(answer.status, 200);
  });

  it('an event stream survives a database outage and sends nothing twice', async () => {
    const other = await createSubscriber(world);
    const client = await open(other.read);
    await client.block();
    world.outage.error = Object.assign(new Error('gone'), { code: '57P01' });
    streams.wake();
    await new Promise((resolve) => setImmediate(resolve));
    world.outage.error = null;
    await emit(other, 'server.stopped');
    assert.deepEqual(typesOf(await client.messages(1)), ['1 server.stopped']);
  });

  it('the client in the guide follows an event stream and reports an error', async () => {
    const other = await createSubscriber(world);
    const base = new URL(url).origin;
    await emit(other, 'server.created', 'billing.charged');
    const events = follow(base, other.billing, '0');
    const next = async () => ((await events.next()).value as { seq: number }).seq;
    assert.deepEqual([await next(), await next()], [1, 2]);
    if (IS_FULL_RUN) {
      const third = next();
      world.app.server.closeAllConnections();
      await emit(other, 'server.running');
      assert.equal(await third, 3);
    }
    await events.return(undefined);
    await assert.rejects(follow(base, other.billing, '9').next(), Refused);
    await assert.rejects(follow(base, 'nonsense').next(), /unauthenticated/);
  });

  it('an event stream ends at once with a reason when the service stops', async () => {
    const stopping = await startHttpWorld();
    const address = await listen(stopping);
    const subscriber = await createSubscriber(stopping);
    const client = await StreamClient.open(address, subscriber.read);
    await client.block();
    const stopped = stopping.close();
    assert.equal(await client.message(), undefined);
    assert.match(client.text, /: the service is stopping; reconnect\n\n$/);
    // The connection stays open for another request.
    stopping.app.server.closeIdleConnections();
    await stopped;
  });
});

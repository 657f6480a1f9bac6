import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { EventStreams } from '../../../src/domain/events/streams.ts';
import { formatId, newId } from '../../../src/kernel/ids.ts';
import { HOUR_MS } from '../../../src/kernel/time.ts';
import { LIMITS } from '../../../src/spec/limits.ts';
import { LIVE_PATH } from '../../../src/spec/paths.ts';
import { type ActionRow, insertAction } from '../../../src/store/actions.ts';
import { PanelClient } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';
import { listen, publish, StreamClient } from '../v1/events-world.ts';

describe('the live stream of the panel', () => {
  let world: HttpWorld;
  let streams: EventStreams;
  let url: string;
  const clients: StreamClient[] = [];
  before(async () => {
    world = await startHttpWorld({ streams: (service) => (streams = new EventStreams(service)) });
    url = new URL(LIVE_PATH, await listen(world)).href;
  });
  after(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await world.close();
  });

  async function open(
    session: SessionClient,
    query = '',
    extra: Record<string, string> = {},
  ): Promise<StreamClient> {
    const cookie = `PHPSESSID=${session.cookie}`;
    const client = await StreamClient.with(`${url}${query}`, { cookie, ...extra });
    clients.push(client);
    assert.equal(client.status, 200);
    return client;
  }
  async function emit(session: SessionClient, ...types: string[]): Promise<void> {
    await publish(world.db, await world.customerId(session), types);
    streams.wake();
  }
  const lastSeq = async (session: SessionClient) => {
    const page = await PanelClient.forApp(world.app, { cookie: session.cookie }).get('/servers');
    return /data-seq="(\d+)"/.exec(page.text)?.[1] ?? '';
  };

  it('a stream tells what changed, and nothing about it', async () => {
    const me = await world.customer();
    const client = await open(me, `?after=${await lastSeq(me)}`);
    assert.equal(client.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(client.headers.get('cache-control'), 'no-store');
    const server = formatId('server', newId(world.clock.now()));
    const id = newId(world.clock.now());
    await world.db.run(
      `with counted as (
         insert into event_counters (customer_id, last_seq) values ($2, 1)
         on conflict (customer_id) do update set last_seq = event_counters.last_seq + 1 returning last_seq)
       insert into events (id, customer_id, type, data, created_at, seq)
       select $1, $2, 'volume.attached', $3, now(), last_seq from counted`,
      [
        id,
        await world.customerId(me),
        JSON.stringify({ volume: { id: 'x', name: 'a', attached_to: server } }),
      ],
    );
    streams.wake();
    const message = await client.message();
    assert.deepEqual(message?.data, { type: 'volume.attached', ids: [server] });
    assert.equal(message.event, 'change');
    assert.equal(message.id, await lastSeq(me));
  });

  it('a stream sends actions and money, which API streams leave out or forbid', async () => {
    const me = await world.customer();
    const client = await open(me, `?after=${await lastSeq(me)}`);
    await emit(me, 'action.success', 'topup.pending', 'billing.charged');
    const types = (await client.messages(3)).map(({ data }) => data.type);
    assert.deepEqual(types, ['action.success', 'topup.pending', 'billing.charged']);
  });

  it('a stream continues after the page that opens it, and after the last event', async () => {
    const me = await world.customer();
    await emit(me, 'server.created');
    const seq = await lastSeq(me);
    await emit(me, 'server.running', 'server.stopped');
    const client = await open(me, `?after=${seq}`);
    const [first] = await client.messages(2);
    assert.equal(first?.data.type, 'server.running');
    const again = await open(me, '?after=0', { 'last-event-id': first.id ?? '' });
    assert.equal((await again.message())?.data.type, 'server.stopped');
  });

  it('a stream from a position that is not stored starts now and is incomplete', async () => {
    const me = await world.customer();
    const client = await open(me, '?after=999999');
    assert.match((await client.block()) ?? '', /^retry: \d+\nid: \d+\nevent: missed\ndata: \{\}$/);
    await emit(me, 'server.running');
    assert.equal((await client.message())?.data.type, 'server.running');
  });

  it('a stream never sends events of another customer', async () => {
    const [me, other] = [await world.customer(), await world.customer()];
    const client = await open(me, `?after=${await lastSeq(me)}`);
    await emit(other, 'server.created', 'server.running');
    await emit(me, 'server.stopped');
    assert.equal((await client.message())?.data.type, 'server.stopped');
    assert.ok(!client.text.includes('server.running'));
  });

  it('a stream reports the steps of actions', async () => {
    const me = await world.customer();
    const now = world.clock.now();
    const [id, server] = [newId(now), newId(now)];
    const action: ActionRow = {
      ...{ id, customer_id: await world.customerId(me), command: 'server.rebuild' as const },
      ...{ status: 'running' as const, resource_kind: 'server' as const, resource_id: server },
      ...{ server_id: server, steps: ['disk', 'boot'] },
      ...{ step_times: [now], progress: 0, error_code: null, error_message: null, request_id: 'req_x' },
      ...{ created_at: now, finished_at: null },
    };
    const client = await open(me, `?after=${await lastSeq(me)}`);
    const progress = { type: 'action.progress', ids: [formatId('action', id), formatId('server', server)] };
    await insertAction(world.db, action);
    streams.wake();
    const began = await client.message();
    assert.deepEqual([began?.data, began?.id], [progress, undefined]);
    await world.db.run(`update actions set progress = 40 where id = $1`, [id]);
    assert.deepEqual((await client.message())?.data, progress);
  });

  it('a stream ends with its session, and browsers do not open it again', async () => {
    const me = await world.customer();
    const client = await open(me, `?after=${await lastSeq(me)}`);
    const cookie = `PHPSESSID=${me.cookie}`;
    await me.post('/auth-api.php', { action: 'logout' });
    streams.wake();
    assert.equal((await client.message())?.event, 'end');
    assert.equal(await client.message(), undefined);
    assert.equal((await fetch(url, { headers: { cookie } })).status, 204);
    assert.equal((await fetch(url)).status, 204);
  });

  it('a stream ends when its session expires', async () => {
    const me = await world.customer();
    const client = await open(me);
    world.clock.offsetMs += LIMITS.sessionIdleHours * HOUR_MS + 1;
    streams.wake();
    for (let message = await client.message(); message; message = await client.message())
      assert.ok(['missed', 'end'].includes(message.event ?? ''));
    assert.ok(client.text.includes('event: end'));
  });

  it('a customer has a bound on streams, apart from that of the API', async () => {
    const me = await world.customer();
    const all = Array.from({ length: LIMITS.liveStreamsPerCustomer }, () => open(me));
    const [first] = await Promise.all(all);
    const cookie = `PHPSESSID=${me.cookie}`;
    const refused = await fetch(url, { headers: { cookie } });
    assert.ok(refused.status >= 400);
    assert.ok(!refused.headers.get('content-type')?.includes('event-stream'));
    await first?.close();
    let status = 0;
    while (status !== 200) {
      const response = await fetch(url, { headers: { cookie } });
      status = response.status;
      await response.body?.cancel();
    }
  });

  it('a service that stops ends its streams, and browsers reconnect', async () => {
    const ending = await startHttpWorld();
    const me = await ending.customer();
    const ownUrl = new URL(LIVE_PATH, await listen(ending)).href;
    const client = await StreamClient.with(ownUrl, { cookie: `PHPSESSID=${me.cookie}` });
    const closed = ending.close();
    while ((await client.block()) !== undefined);
    assert.ok(client.text.includes('retry: 3000'));
    assert.ok(!client.text.includes('event: end'));
    await closed;
  });
});

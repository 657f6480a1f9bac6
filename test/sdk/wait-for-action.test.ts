/** waitForAction against scripted responses, and against the real service. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Action, ActionFailedError, Skerry, WaitError, WaitTimeoutError } from '@skerry/sdk';
import { NO_RATES, PUBLIC_KEY } from '../http/v1/contract/estate.ts';
import { createApiToken } from '../support/v1-client.ts';
import { startWorld } from '../support/world.ts';
import { withFakeTimers } from './stubbed-client.ts';

const ID = 'act_1';
const action = (status: Action['status'], more: Partial<Action> = {}) =>
  ({ object: 'action', id: ID, status, progress: 40, error: null, ...more }) as Action;
const FAILED = action('error', {
  error: { code: 'out_of_stock', message: 'No host in the region has room for it.' },
});

/** A message with the end of an action. */
function message(seq: number, ended: Action): string {
  const type = `action.${ended.status}`;
  return `id: ${seq}\nevent: ${type}\ndata: ${JSON.stringify({ seq, type, data: { action: ended } })}\n\n`;
}

interface Script {
  /** The states that GET returns in turn; the last one repeats. */
  readonly states: readonly Action[];
  /** The text of each connection, which then breaks; a number refuses the stream with this status. */
  readonly connections: readonly (string | number)[];
}

function scriptedClient({ states, connections }: Script) {
  let looks = 0;
  const places: (string | null)[] = [];
  const urls: string[] = [];
  const fetch = async (request: Request) => {
    const url = new URL(request.url);
    if (url.pathname.endsWith(`/actions/${ID}`)) {
      const body = states[Math.min(looks, states.length - 1)];
      looks += 1;
      if (body === undefined)
        return new Response('{"error":{"code":"not_found","errors":[]}}', { status: 404 });
      return Response.json(body);
    }
    urls.push(url.search);
    const connection = connections[places.length] ?? 404;
    places.push(request.headers.get('last-event-id'));
    if (typeof connection === 'number') {
      return new Response('{"error":{"code":"conflict_state","errors":[]}}', { status: connection });
    }
    const isLast = places.length === connections.length;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        request.signal.addEventListener('abort', () => controller.error(new Error('aborted')));
        controller.enqueue(new TextEncoder().encode(connection));
        if (!isLast) controller.close();
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
  const skerry = new Skerry({ baseUrl: 'http://127.0.0.1:9', token: 't', fetch });
  return { skerry, places, urls, looks: () => looks };
}

it('a wait ends with the event, and looks only once when the stream opens', async (t) => {
  const text = `retry: 3000\nid: 6\n\n${message(7, action('success', { id: 'act_2' }))}`;
  const { skerry, looks, urls } = scriptedClient({
    states: [action('running')],
    connections: [`${text}${message(8, action('success'))}`],
  });
  const ended = await withFakeTimers(t, () => skerry.waitForAction(action('running')));
  assert.equal(ended.status, 'success');
  assert.ok(looks() <= 1, `${looks()} polls`);
  assert.deepEqual(urls, ['?types=action.success,action.error']);
});

it('an action that ended before the stream opened is found by the look at it', async (t) => {
  const { skerry, looks } = scriptedClient({ states: [action('success')], connections: ['id: 9\n\n'] });
  assert.equal((await withFakeTimers(t, () => skerry.waitForAction(ID))).status, 'success');
  assert.equal(looks(), 1);
});

it('a stream that breaks resumes after the last number, so that the end is heard', async (t) => {
  const { skerry, places } = scriptedClient({
    states: [action('running')],
    connections: ['retry: 1000\nid: 41\n\n', message(42, action('success'))],
  });
  assert.equal((await withFakeTimers(t, () => skerry.waitForAction(ID))).status, 'success');
  assert.deepEqual(places, [null, '41']);
});

it('a wait polls where the stream is refused', async (t) => {
  const { skerry, looks } = scriptedClient({
    states: [action('running'), action('running'), action('success')],
    connections: [403],
  });
  assert.equal((await withFakeTimers(t, () => skerry.waitForAction(ID))).status, 'success');
  assert.equal(looks(), 3);
});

it('a failed action is an error with its cause', async (t) => {
  const { skerry } = scriptedClient({ states: [action('running')], connections: [message(1, FAILED)] });
  await assert.rejects(
    withFakeTimers(t, () => skerry.waitForAction(ID)),
    (error) =>
      error instanceof ActionFailedError &&
      error instanceof WaitError &&
      error.action.error?.code === 'out_of_stock' &&
      error.message === FAILED.error?.message,
  );
});

it('a wait shows progress, and ends with its timeout, its signal, and an unknown action', async (t) => {
  const running = { states: [action('running')], connections: ['id: 1\n\n'] };
  const seen: number[] = [];
  const onLook = ({ progress }: Action) => void seen.push(progress);
  await assert.rejects(
    withFakeTimers(t, () => scriptedClient(running).skerry.waitForAction(ID, { timeoutMs: 9_000, onLook })),
    (error) => error instanceof WaitTimeoutError && (error.last as Action).status === 'running',
  );
  assert.ok(seen.length >= 4 && seen.length <= 6, String(seen.length));
  const reason = new Error('enough');
  const signal = AbortSignal.abort(reason);
  await assert.rejects(scriptedClient(running).skerry.waitForAction(ID, { signal }), reason);
  const unknown = scriptedClient({ states: [], connections: ['id: 1\n\n'] });
  await assert.rejects(
    withFakeTimers(t, () => unknown.skerry.waitForAction(ID)),
    { name: 'WaitError', message: 'The action act_1 does not exist.' },
  );
});

it('the service ends a wait by its event stream', async () => {
  const world = await startWorld(NO_RATES);
  try {
    const token = await createApiToken(await world.customer(60), 'write');
    const skerry = new Skerry({ baseUrl: world.url, token });
    const { id: key } = await skerry.sshKeys.create({ name: 'laptop', public_key: PUBLIC_KEY });
    const [image] = await skerry.images.list({ filter: { family: 'alpine' } }).all();
    const order = { name: 'web-1', plan: 's1', region: 'par', image: image?.id ?? '', ssh_keys: [key] };
    const { id, action: created } = await skerry.servers.create(order);
    assert.ok(created);
    assert.equal((await skerry.waitForAction(created, { intervalMs: 60_000 })).status, 'success');
    assert.equal((await skerry.servers.get(id)).status, 'running');
    assert.equal((await skerry.actions.ofServer(id).all()).length, 1);
  } finally {
    await world.close();
  }
});

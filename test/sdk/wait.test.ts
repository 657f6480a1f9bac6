/** waitFor, poll by poll, against scripted responses. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Server, type Snapshot, TimeoutError, WaitError, WaitTimeoutError } from '@skerry/sdk';
import { createStubbedClient, errorResponse, okResponse, withFakeTimers } from './stubbed-client.ts';

const server = (status: string) => ({ object: 'server', id: 'srv_1', status }) as Server;
const snapshot = (status: string) => ({ object: 'snapshot', id: 'snap_1', status }) as Snapshot;

it('waitFor polls every two seconds until the status is reached', async (t) => {
  const responses = ['provisioning', 'installing', 'running'].map((status) => okResponse(server(status)));
  const { skerry, atMs } = createStubbedClient(responses);
  const seen: string[] = [];
  const onLook = (one: Server) => void seen.push(one.status);
  const found = await withFakeTimers(t, () => skerry.waitFor(server('provisioning'), 'running', { onLook }));
  assert.equal(found.status, 'running');
  assert.deepEqual(seen, ['provisioning', 'installing', 'running']);
  assert.ok((atMs.at(-1) ?? 0) >= 4_000 && (atMs.at(-1) ?? 0) < 4_500);
});

it('waitFor rejects with the last state when the status can no longer be reached', async () => {
  for (const end of ['suspended', 'destroying']) {
    const { skerry } = createStubbedClient([okResponse(server(end))]);
    await assert.rejects(
      skerry.waitFor(server('installing'), 'running'),
      (error) => error instanceof WaitError && (error.last as Server).status === end,
    );
  }
  const { skerry } = createStubbedClient([okResponse(snapshot('error'))]);
  await assert.rejects(skerry.waitFor(snapshot('creating'), 'ready'), { name: 'WaitError' });
});

it('waitFor waits for a suspended server that resumes', async (t) => {
  const { skerry } = createStubbedClient([okResponse(server('suspended')), okResponse(server('running'))]);
  const found = await withFakeTimers(t, () => skerry.waitFor(server('suspended'), 'running'));
  assert.equal(found.status, 'running');
});

it('waitFor rejects when the resource was deleted', async () => {
  const { skerry } = createStubbedClient([errorResponse(404, 'not_found')]);
  await assert.rejects(skerry.waitFor(server('running'), 'stopped'), {
    name: 'WaitError',
    message: 'The server srv_1 was deleted.',
    last: null,
  });
});

it('waitFor ends with its timeout and with its signal', async (t) => {
  const { skerry, sent } = createStubbedClient([okResponse(server('installing'))]);
  const options = { timeoutMs: 10_000, intervalMs: 1_000 };
  await assert.rejects(
    withFakeTimers(t, () => skerry.waitFor(server('installing'), 'running', options)),
    (error) =>
      error instanceof WaitTimeoutError &&
      error instanceof TimeoutError &&
      /still installing, not running/.test(error.message) &&
      (error.last as Server).status === 'installing',
  );
  assert.ok(sent.length >= 10 && sent.length <= 11, String(sent.length));
  const ending = new AbortController();
  const reason = new Error('enough');
  const onLook = () => ending.abort(reason);
  const { signal } = ending;
  await assert.rejects(skerry.waitFor(server('installing'), 'running', { signal, onLook }), reason);
});

it('a poll without a response is a timeout of the call, not of the wait', async (t) => {
  const fetch = ({ signal }: Request) =>
    new Promise<Response>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const { skerry } = createStubbedClient([], { fetch, maxRetries: 0 });
  await assert.rejects(
    withFakeTimers(t, () => skerry.waitFor(server('installing'), 'running')),
    (error) => error instanceof TimeoutError && !(error instanceof WaitTimeoutError),
  );
});

/**
 * One Idempotency-Key at several processes has one effect and one response, even if a process dies while
 * handling it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '../http/v1/upload-world.ts';
import { byLevel, FULL_ONLY } from '../support/runs.ts';
import type { V1Client, V1Response } from '../support/v1-client.ts';
import { type ProcessWorld, startProcesses } from './process-world.ts';

const IN_FLIGHT = byLevel({ sample: 300, full: 300, soak: 1_000 });
const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';
const KILLS = byLevel({ sample: 1, full: 10, soak: 20 });
/** Each kill comes this much later than the one before. */
const KILL_DELAY_STEP_MS = 15;
/** How long a caller retries. A dead process is replaced after a second. */
const RETRY_TIMEOUT_MS = 20_000;

// Full runs only: starting the processes takes longer than the test. `npm test` covers a single process.

describe('requests with one Idempotency-Key at two processes', FULL_ONLY, () => {
  let world: ProcessWorld;
  let api: V1Client;
  let order: object;
  before(async () => {
    const free = { SKERRY_RATE_CAPACITY: '1000000', SKERRY_PROVISION_RATE_CAPACITY: '1000000' };
    world = await startProcesses(2, free);
    ({ api } = await world.customer(500));
    const images = (await api.get('/images?filter[family]=debian')).body.data;
    const { id: image } = images.find(
      (candidate: { deprecated_at: string | null }) => candidate.deprecated_at === null,
    );
    const key = (await api.post('/ssh-keys', { name: 'mine', public_key: PUBLIC_KEY })).body.id;
    order = { plan: 's1', region: 'par', image, ssh_keys: [key] };
  });
  after(() => world.close());

  const deploy = (name: string) => () => api.post('/servers', { ...order, name }, { key: name });
  const token = (name: string) => () => api.post('/account/tokens', { name, scope: 'read' }, { key: name });

  /** Sends the request many times in parallel, and retries each until it gets a response. */
  async function flood(send: () => Promise<V1Response>): Promise<V1Response[]> {
    return await Promise.all(Array.from({ length: IN_FLIGHT }, () => retryUntilAnswered(send)));
  }

  /** Kills one process after the requests have been sent. */
  async function killOneProcess(afterMs: number): Promise<void> {
    const victim = world.children()[0];
    assert.ok(victim);
    await pause(afterMs);
    process.kill(victim, 'SIGKILL');
    await waitUntil(async () => world.children().length === 2 && !world.children().includes(victim));
  }

  function assertOneEffect(responses: readonly V1Response[], replayCounts: readonly number[]): void {
    const [first] = responses;
    assert.ok(first);
    assert.equal(first.status, 201, first.text);
    for (const response of responses) {
      assert.equal(response.text, first.text);
      assert.equal(response.headers.get('x-request-id'), first.headers.get('x-request-id'));
    }
    const replays = responses.filter(({ headers }) => headers.get('idempotent-replayed') === 'true').length;
    assert.ok(replayCounts.includes(replays), `${replays} replays of ${responses.length}`);
  }

  async function countNamed(path: string, name: string): Promise<number> {
    return (await api.get(`${path}?filter[name]=${name}`)).body.data.length;
  }

  it('create one server and one token, and get identical responses, secret included', async () => {
    assertOneEffect(await flood(deploy('web-1')), [IN_FLIGHT - 1]);
    assertOneEffect(await flood(token('of-many')), [IN_FLIGHT - 1]);
    assert.equal(await countNamed('/servers', 'web-1'), 1);
    assert.equal(await countNamed('/account/tokens', 'of-many'), 1);
  });

  it('have one effect even when a process is killed and its callers retry', async () => {
    for (let n = 0; n < KILLS; n++) {
      const [deploys, tokens] = await Promise.all([
        flood(deploy(`web-k${n}`)),
        flood(token(`killed-${n}`)),
        killOneProcess(n * KILL_DELAY_STEP_MS),
      ]);
      // The process that did the work may have died before it responded. Then every response is a replay.
      assertOneEffect(deploys, [IN_FLIGHT - 1, IN_FLIGHT]);
      assertOneEffect(tokens, [IN_FLIGHT - 1, IN_FLIGHT]);
      assert.equal(await countNamed('/servers', `web-k${n}`), 1);
      assert.equal(await countNamed('/account/tokens', `killed-${n}`), 1);
    }
    const charges = (await api.get('/billing/ledger?filter[type]=charge&page_size=100')).body.data.length;
    assert.equal(charges, (await api.get('/servers?page_size=100')).body.data.length);
  });
});

/** Retries when the connection broke or no process accepted it. */
async function retryUntilAnswered(send: () => Promise<V1Response>): Promise<V1Response> {
  for (const deadline = Date.now() + RETRY_TIMEOUT_MS; ; ) {
    try {
      const response = await send();
      if (response.status !== 503 || Date.now() > deadline) return response;
    } catch (error) {
      if (!(error instanceof TypeError) || Date.now() > deadline) throw error;
    }
    await pause(20);
  }
}

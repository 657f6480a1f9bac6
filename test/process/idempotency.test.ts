/** One Idempotency-Key at several processes: one effect and one answer, also when a process dies with it in its hands. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '../http/v1/upload-world.ts';
import { FULL_ONLY } from '../support/runs.ts';
import type { V1Client, V1Response } from '../support/v1-client.ts';
import { type ProcessWorld, startProcesses } from './process-world.ts';

const IN_FLIGHT = 300;
const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';
const KILLS = 10;
/** Each of them comes a little later than the one before. */
const KILL_DELAY_STEP_MS = 15;
/** How long a caller tries again: a dead process is replaced after a second. */
const RETRY_TIMEOUT_MS = 20_000;

/** Starting the processes alone takes longer than a sample of it is worth; in one process, npm test has it. */

describe('requests with one Idempotency-Key at two processes', FULL_ONLY, () => {
  let world: ProcessWorld;
  let api: V1Client;
  let order: object;
  before(async () => {
    const free = { SKERRY_RATE_CAPACITY: '1000000', SKERRY_PROVISION_RATE_CAPACITY: '1000000' };
    world = await startProcesses(2, free);
    ({ api } = await world.customer(500));
    const images = (await api.get('/images?filter[family]=debian')).body.data;
    const { id: image } = images.find((one: { deprecated_at: string | null }) => one.deprecated_at === null);
    const key = (await api.post('/ssh-keys', { name: 'mine', public_key: PUBLIC_KEY })).body.id;
    order = { plan: 's1', region: 'par', image, ssh_keys: [key] };
  });
  after(() => world.close());

  const deploy = (name: string) => () => api.post('/servers', { ...order, name }, { key: name });
  const token = (name: string) => () => api.post('/account/tokens', { name, scope: 'read' }, { key: name });

  /** Sends it so often at once, each until it is answered. */
  async function flood(ask: () => Promise<V1Response>): Promise<V1Response[]> {
    return await Promise.all(Array.from({ length: IN_FLIGHT }, () => retryUntilAnswered(ask)));
  }

  /** Some moment after they have set out. */
  async function killOne(afterMs: number): Promise<void> {
    const victim = world.children()[0];
    assert.ok(victim);
    await pause(afterMs);
    process.kill(victim, 'SIGKILL');
    await waitUntil(async () => world.children().length === 2 && !world.children().includes(victim));
  }

  function assertOne(answers: readonly V1Response[], replays: readonly number[]): void {
    const [first] = answers;
    assert.ok(first);
    assert.equal(first.status, 201, first.text);
    for (const answer of answers) {
      assert.equal(answer.text, first.text);
      assert.equal(answer.headers.get('x-request-id'), first.headers.get('x-request-id'));
    }
    const replayed = answers.filter((answer) => answer.headers.get('idempotent-replayed') === 'true').length;
    assert.ok(replays.includes(replayed), `${replayed} replays of ${answers.length}`);
  }

  async function named(path: string, name: string): Promise<number> {
    return (await api.get(`${path}?filter[name]=${name}`)).body.data.length;
  }

  it('make one server and one token, and all say the same, secret included', async () => {
    assertOne(await flood(deploy('web-1')), [IN_FLIGHT - 1]);
    assertOne(await flood(token('of-many')), [IN_FLIGHT - 1]);
    assert.equal(await named('/servers', 'web-1'), 1);
    assert.equal(await named('/account/tokens', 'of-many'), 1);
  });

  it('do so when a process is killed with -9 among them and its callers try again', async () => {
    for (let n = 0; n < KILLS; n++) {
      const [deploys, tokens] = await Promise.all([
        flood(deploy(`web-k${n}`)),
        flood(token(`killed-${n}`)),
        killOne(n * KILL_DELAY_STEP_MS),
      ]);
      // The one that did it may have died before its caller heard of it: then all are replays.
      assertOne(deploys, [IN_FLIGHT - 1, IN_FLIGHT]);
      assertOne(tokens, [IN_FLIGHT - 1, IN_FLIGHT]);
      assert.equal(await named('/servers', `web-k${n}`), 1);
      assert.equal(await named('/account/tokens', `killed-${n}`), 1);
    }
    const charges = (await api.get('/billing/ledger?filter[type]=charge&page_size=100')).body.data.length;
    assert.equal(charges, (await api.get('/servers?page_size=100')).body.data.length);
  });
});

/** Asks again where the connection broke or there was no process to take it. */
async function retryUntilAnswered(send: () => Promise<V1Response>): Promise<V1Response> {
  for (const deadline = Date.now() + RETRY_TIMEOUT_MS; ; ) {
    try {
      const answer = await send();
      if (answer.status !== 503 || Date.now() > deadline) return answer;
    } catch (error) {
      if (!(error instanceof TypeError) || Date.now() > deadline) throw error;
    }
    await pause(20);
  }
}

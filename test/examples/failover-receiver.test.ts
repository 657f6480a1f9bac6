/** The failover example: which deliveries its receiver accepts, and how its worker schedules work. */
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { createReceiver } from '../../examples/failover/receiver.ts';
import { Worker } from '../../examples/failover/worker.ts';
import { SECRET, sampleDeliveries, sign } from '../docs/sample-receivers.ts';
import { FULL_ONLY } from '../support/runs.ts';

/** Starts the receiver over HTTP. `taken` collects accepted event ids; `post` returns the status. */
async function openReceiver() {
  const taken: string[] = [];
  const receiver = createReceiver({ secret: SECRET, tls: null, onEvent: ({ id }) => taken.push(id) });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  return {
    taken,
    url,
    post: async (body: string, header: string) =>
      (await fetch(url, { method: 'POST', body, headers: { 'x-service-signature': header } })).status,
    close: () => {
      receiver.closeAllConnections();
      receiver.close();
    },
  };
}

it('the receiver accepts each genuine event once and rejects large bodies', async () => {
  const { taken, url, post, close } = await openReceiver();
  try {
    for (const { name, header, body, genuine } of sampleDeliveries()) {
      // One sample is larger than any real event.
      const status = body.length > 256 * 1024 ? 413 : genuine ? 204 : 400;
      assert.equal(await post(body, header), status, name);
    }
    assert.deepEqual(taken, ['evt_1']);
    assert.equal((await fetch(url)).status, 405);
  } finally {
    close();
  }
});

it('the receiver remembers the last thousand event ids', FULL_ONLY, async () => {
  const { taken, post, close } = await openReceiver();
  try {
    const t = Math.floor(Date.now() / 1_000);
    const send = async (id: string) => {
      const body = JSON.stringify({ id });
      assert.equal(await post(body, `t=${t},v1=${sign(SECRET, t, body)}`), 204);
    };
    for (let n = 1; n <= 1_001; n++) await send(`evt_${n}`);
    await send('evt_2');
    assert.equal(taken.length, 1_001);
    await send('evt_1');
    assert.equal(taken.length, 1_002);
  } finally {
    close();
  }
});

it('the worker runs one job at a time and runs again after a wake-up or a failure', async () => {
  const done: string[] = [];
  let [runningCount, maxRunning] = [0, 0];
  const allDone = Promise.withResolvers<void>();
  const worker = new Worker({
    work: async () => {
      maxRunning = Math.max(maxRunning, ++runningCount);
      done.push('work');
      if (done.length === 1) for (let n = 0; n < 5; n++) worker.wake();
      await new Promise((resolve) => setImmediate(resolve));
      runningCount -= 1;
      if (done.length === 2) throw new Error('try again');
      if (done.length === 4) allDone.resolve();
    },
    retryMs: 1,
    checkMs: 2 ** 30,
    onError: (error) => done.push(String(error)),
  });
  const keepAlive = setInterval(() => undefined, 1_000);
  worker.wake();
  await allDone.promise;
  clearInterval(keepAlive);
  assert.deepEqual(done, ['work', 'work', 'Error: try again', 'work']);
  assert.equal(maxRunning, 1);
});

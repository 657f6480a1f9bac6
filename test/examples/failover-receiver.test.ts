/** The example of fail-over: what its receiver takes, and when its work is done. */
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { createReceiver } from '../../examples/failover/receiver.ts';
import { Worker } from '../../examples/failover/worker.ts';
import { SECRET, sampleDeliveries, sign } from '../docs/sample-receivers.ts';
import { FULL_ONLY } from '../support/runs.ts';

/** The receiver over HTTP, what it has taken, and a way to post to it that gives the status. */
async function openReceiver() {
  const taken: string[] = [];
  const receiver = createReceiver({ secret: SECRET, tls: null, onEvent: ({ id }) => taken.push(id) });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  return {
    ...{ taken, url },
    post: async (body: string, header: string) =>
      (await fetch(url, { method: 'POST', body, headers: { 'x-service-signature': header } })).status,
    close: () => {
      receiver.closeAllConnections();
      receiver.close();
    },
  };
}

it('the receiver takes what is genuine, each event once, and nothing that is too large', async () => {
  const { taken, url, post, close } = await openReceiver();
  try {
    for (const { what, header, body, genuine } of sampleDeliveries()) {
      // One of them is larger than any event.
      const status = body.length > 256 * 1024 ? 413 : genuine ? 204 : 400;
      assert.equal(await post(body, header), status, what);
    }
    assert.deepEqual(taken, ['evt_1']);
    assert.equal((await fetch(url)).status, 405);
  } finally {
    close();
  }
});

it('of a thousand events the receiver remembers that they came, and of no more', FULL_ONLY, async () => {
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

it('work is done once at a time, again after it was woken in between, and again after a failure', async () => {
  const done: string[] = [];
  let [underWay, most] = [0, 0];
  const third = Promise.withResolvers<void>();
  const worker = new Worker({
    work: async () => {
      most = Math.max(most, ++underWay);
      done.push('work');
      if (done.length === 1) for (let n = 0; n < 5; n++) worker.wake();
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
      if (done.length === 2) throw new Error('not now');
      if (done.length === 4) third.resolve();
    },
    retryMs: 1,
    checkMs: 2 ** 30,
    onError: (error) => done.push(String(error)),
  });
  const running = setInterval(() => undefined, 1_000);
  worker.wake();
  await third.promise;
  clearInterval(running);
  assert.deepEqual(done, ['work', 'work', 'Error: not now', 'work']);
  assert.equal(most, 1);
});

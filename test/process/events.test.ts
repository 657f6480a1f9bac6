/** Event streams of a service with several processes. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { StreamClient } from '../http/v1/events-world.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { startProcesses } from './process-world.ts';

/** Enough connections that the kernel assigns some to each of two processes. */
const STREAMS = 8;
const STOP_MAX_MS = 5_000;

it('event streams carry the events of every process and end with the service', FULL_ONLY, async () => {
  const world = await startProcesses(2, {});
  try {
    const { api, token } = await world.customer(0);
    await world.settle();
    const url = `${world.serving.url}/v1/events?after=0`;
    const streams = await Promise.all(Array.from({ length: STREAMS }, () => StreamClient.open(url, token)));
    for (const stream of streams) assert.equal((await stream.message())?.event, 'token.created');
    const created = await api.post('/account/tokens', { name: 'another', scope: 'read' });
    const ids = await Promise.all(
      streams.map(async (stream) => {
        const { data } = (await stream.message()) ?? {};
        assert.deepEqual([data.seq, data.data.api_token.id], [2, created.body.id]);
        return data.id;
      }),
    );
    assert.equal(new Set(ids).size, 1);
    const startedAt = performance.now();
    const stopping = world.serving.stop();
    for (const stream of streams) {
      assert.equal(await stream.message(), undefined);
      assert.match(stream.text, /: the service is stopping; reconnect\n\n$/);
    }
    assert.equal((await stopping).code, 0);
    assert.ok(performance.now() - startedAt < STOP_MAX_MS);
  } finally {
    await world.close();
  }
});

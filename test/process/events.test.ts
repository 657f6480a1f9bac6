/** Event streams of a service of several processes. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { StreamClient } from '../http/v1/events-world.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { startProcesses } from './process-world.ts';

/** The kernel deals connections out: so many go to each of two. */
const STREAMS = 8;
const STOP_MAX_MS = 5_000;

it('streams tell what any process has done, and end with the service', FULL_ONLY, async () => {
  const world = await startProcesses(2, {});
  try {
    const { api, token } = await world.customer(0);
    await world.settle();
    const url = `${world.serving.url}/v1/events?after=0`;
    const streams = await Promise.all(Array.from({ length: STREAMS }, () => StreamClient.open(url, token)));
    for (const stream of streams) assert.equal((await stream.message())?.event, 'token.created');
    const made = await api.post('/account/tokens', { name: 'another', scope: 'read' });
    const ids = await Promise.all(
      streams.map(async (stream) => {
        const { data } = (await stream.message()) ?? {};
        assert.deepEqual([data.seq, data.data.api_token.id], [2, made.body.id]);
        return data.id;
      }),
    );
    assert.equal(new Set(ids).size, 1);
    const begun = performance.now();
    const stopping = world.serving.stop();
    for (const stream of streams) {
      assert.equal(await stream.message(), undefined);
      assert.match(stream.text, /: the service is stopping; reconnect\n\n$/);
    }
    assert.equal((await stopping).code, 0);
    assert.ok(performance.now() - begun < STOP_MAX_MS);
  } finally {
    await world.close();
  }
});

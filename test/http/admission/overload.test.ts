import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { OVERLOAD_MESSAGE } from '../../../src/spec/error-messages.ts';
import { OVERLOAD } from '../../../src/spec/overload.ts';
import { assertApiError, createApiToken, V1Client } from '../../support/v1-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

describe('a service that is held up', { timeout: 60_000 }, () => {
  let world: HttpWorld;
  let url: string;
  let api: V1Client;
  let hold = Promise.resolve();
  before(async () => {
    world = await startHttpWorld({
      settings: { overload: { targetMs: 100, requestsMax: 4_000 } },
      ready: () => hold.then(() => true),
    });
    url = await world.app.listen({ port: 0, host: '127.0.0.1' });
    api = V1Client.forUrl(url, await createApiToken(await world.customer()));
  });
  after(() => world.close());

  /** Runs `work` while as many requests as are always admitted are in progress, for longer than a burst. */
  async function whileHeldUp(work: () => Promise<void>): Promise<void> {
    const held = Promise.withResolvers<void>();
    hold = held.promise;
    const pending = Array.from({ length: OVERLOAD.admittedMin }, () => fetch(`${url}/readyz`));
    try {
      const startedAt = performance.now();
      while ((await api.get('/servers')).status !== 503) assert.ok(performance.now() - startedAt < 20_000);
      await work();
    } finally {
      held.resolve();
    }
    for (const { status } of await Promise.all(pending)) assert.equal(status, 200);
  }

  it('requests are refused in the form of their surface, and health and sign-in are served', async () => {
    await whileHeldUp(async () => {
      const refused = await api.get('/servers');
      assert.deepEqual(assertApiError(refused, 503, 'maintenance'), [
        { field: '', issue: 'unavailable', retry_after_s: 1 },
      ]);
      assert.equal(refused.headers.get('retry-after'), null);
      assert.equal(refused.body.error.request_id, refused.headers.get('x-request-id'));
      assert.equal(refused.headers.get('access-control-allow-origin'), '*');

      const page = await fetch(url, { headers: { accept: 'text/html' } });
      assert.equal(page.status, 503);
      const text = await page.text();
      assert.ok(text.includes(OVERLOAD_MESSAGE) && text.includes(page.headers.get('x-request-id') ?? '-'));
      assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);

      assert.equal((await fetch(`${url}/healthz`)).status, 200);
      assert.equal((await fetch(`${url}/csrf.php`)).status, 200);
      assert.equal((await fetch(`${url}/signin`)).status, 200);
      assert.equal((await fetch(`${url}/plans`)).status, 503);
    });
    assert.equal((await api.get('/servers')).status, 200);
  });

  it('a change with a body is refused without reading it, and the connection stays usable', async () => {
    await whileHeldUp(async () => {
      let answer = await api.post('/ssh-keys', { name: 'x'.repeat(1_000) });
      const startedAt = performance.now();
      // A burst of changes is admitted for a second.
      while (answer.status !== 503) {
        assert.ok(performance.now() - startedAt < 20_000);
        answer = await api.post('/ssh-keys', { name: 'x'.repeat(1_000) });
      }
      assertApiError(answer, 503, 'maintenance');
    });
  });

  it('the log has refusals with their number, not one by one', () => {
    const lines = world.log.filter((line) => line.includes('overloaded'));
    assert.ok(lines.length >= 1 && lines.length <= 6, `${lines.length} lines`);
    assert.match(lines[0] ?? '', /"refused":1/);
  });
});

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import fastify from 'fastify';
import { addDeadlines } from '../../../src/http/admission/deadlines.ts';
import { PANEL_PAGES } from '../../../src/http/panel/pages.ts';
import { DeadlineExceeded, OutcomeUnknown } from '../../../src/kernel/faults/deadline.ts';
import { OUTCOME_UNKNOWN_MESSAGE } from '../../../src/spec/error-messages.ts';
import { FAILURES } from '../../../src/spec/errors.ts';
import { inject } from '../../support/inject.ts';
import type { PgProxy } from '../../support/pg-proxy.ts';
import { assertApiError, createApiToken, V1Client } from '../../support/v1-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

const SHORT = { readMs: 300, writeMs: 900 };
const LONG = { readMs: 60_000, writeMs: 60_000 };
/** For a slow machine, and the time that a rollback may take. */
const SLACK_MS = 10_000;
const ITEM = { field: '', issue: 'unavailable', retry_after_s: 5 };

describe('the time limit of a request', { timeout: 120_000 }, () => {
  const timeouts = { ...LONG };
  let world: HttpWorld;
  let proxy: PgProxy;
  let api: V1Client;
  before(async () => {
    world = await startHttpWorld({ timeouts, proxied: true });
    proxy = world.proxy ?? assert.fail('no proxy');
    api = V1Client.forApp(world.app, await createApiToken(await world.customer()));
  });
  after(() => world.close());
  beforeEach(() => {
    proxy.resume();
    Object.assign(timeouts, LONG);
  });

  /** Runs `work` with short time limits. */
  async function soon<T>(work: () => Promise<T>): Promise<T> {
    Object.assign(timeouts, SHORT);
    return await work().finally(() => Object.assign(timeouts, LONG));
  }

  /** Runs `work` while another transaction holds the table. */
  async function whileLocked<T>(table: string, work: () => Promise<T>): Promise<T> {
    return await world.scratch.transaction(async (tx) => {
      await tx.run(`lock table ${table} in access exclusive mode`);
      return await soon(work);
    });
  }

  async function timed<T>(work: Promise<T>): Promise<{ answer: T; tookMs: number }> {
    const startedAt = performance.now();
    return { answer: await work, tookMs: performance.now() - startedAt };
  }

  const groupCount = async () =>
    (await world.scratch.row<{ n: number }>('select count(*)::int as n from firewall_groups'))?.n;

  it('a read that waits for the database gets 503 at its time limit', async () => {
    const { answer, tookMs } = await whileLocked('ssh_keys', () => timed(api.get('/ssh-keys')));
    assert.deepEqual(assertApiError(answer, 503, 'maintenance'), [ITEM]);
    assert.equal(answer.headers.get('retry-after'), null);
    assert.ok(tookMs >= SHORT.readMs - 5 && tookMs < SHORT.readMs + SLACK_MS, `${tookMs} ms`);
    assert.equal((await api.get('/ssh-keys')).status, 200);
  });

  it('a write that waits for the database gets 503 at its time limit, and changes nothing', async () => {
    const body = { name: 'late', default_action: 'drop' };
    // The audit row is written last, after the group.
    const send = () => timed(api.post('/firewall/groups', body));
    const { answer, tookMs } = await whileLocked('audit_events', send);
    assert.deepEqual(assertApiError(answer, 503, 'maintenance'), [ITEM]);
    assert.ok(tookMs >= SHORT.writeMs - 5 && tookMs < SHORT.writeMs + SLACK_MS, `${tookMs} ms`);
    assert.equal(await groupCount(), 0);
    assert.equal((await api.post('/firewall/groups', body)).status, 201);
  });

  it('every surface answers in its own form while the database hangs, and recovers', async () => {
    const customer = await world.customer();
    proxy.hang();
    const headers = { accept: 'text/html', cookie: `PHPSESSID=${customer.cookie}` };
    const [rest, session, page] = await soon(() =>
      Promise.all([
        api.get('/servers'),
        customer.get('/me.php'),
        inject(world.app, { method: 'GET', url: '/', headers }),
      ]),
    );
    assertApiError(rest, 503, 'maintenance');
    assert.deepEqual([session.status, session.body.error], [503, 'maintenance']);
    assert.equal(page.status, 503);
    assert.match(page.text, /<h1>/);
    proxy.resume();
    assert.equal((await api.get('/servers')).status, 200);
  });

  it('every panel page answers a browser with a page while the database hangs', async () => {
    const { cookie = '' } = await world.customer();
    proxy.hang();
    const headers = { accept: 'text/html', cookie: `PHPSESSID=${cookie}` };
    const answers = await soon(() =>
      Promise.all(
        PANEL_PAGES.map(async ({ path }) => {
          const url = path.replaceAll(/\{\w+\}/g, 'any');
          return { path, ...(await inject(world.app, { method: 'GET', url, headers })) };
        }),
      ),
    );
    for (const { path, status, headers: got, text } of answers) {
      assert.match(got.get('content-type') ?? '', /^text\/html/, `${path} ${status}: ${text.slice(0, 100)}`);
      assert.equal(status, 503, path);
    }
  });

  it('a change whose commit is not confirmed is not reported as undone, and none is lost', async () => {
    const messages = new Set<string>();
    for (let message = 1; ; message++) {
      const name = `group ${message}`;
      proxy.failAt(message, 'closes');
      const answer = await api.post('/firewall/groups', { name, default_action: 'drop' });
      const isReached = proxy.messageCount >= message;
      const row = await world.scratch.row('delete from firewall_groups where name = $1 returning id', [name]);
      if (answer.status === 201) assert.ok(row, `message ${message}: a change was lost`);
      else {
        assertApiError(answer, 503, 'maintenance');
        const text = String(answer.body.error.message);
        messages.add(text);
        if (text !== OUTCOME_UNKNOWN_MESSAGE) assert.equal(row, undefined, `message ${message}: ${text}`);
      }
      if (!isReached) break;
    }
    assert.deepEqual([...messages].sort(), [FAILURES.maintenance.message, OUTCOME_UNKNOWN_MESSAGE].sort());
  });
});

it('a request that waits for something else than the database ends, and others go on', async () => {
  const app = fastify();
  addDeadlines(app, { readMs: 20, writeMs: 20 });
  const errors: unknown[] = [];
  app.setErrorHandler((error, _request, reply) => {
    errors.push(error);
    reply.code(503).send();
  });
  const late = Promise.withResolvers<string>();
  const inTime = Promise.withResolvers<string>();
  app.get('/late', () => late.promise);
  app.post('/late', () => late.promise);
  app.get('/extended', (request) => request.deadline?.extendBy(() => inTime.promise));
  const extended = app.inject('/extended');
  assert.equal((await app.inject('/late')).statusCode, 503);
  assert.equal((await app.inject({ method: 'POST', url: '/late' })).statusCode, 503);
  assert.ok(errors[0] instanceof DeadlineExceeded);
  assert.ok(errors[1] instanceof OutcomeUnknown);
  late.reject(new Error('after the response'));
  inTime.resolve('in time');
  assert.equal((await extended).body, 'in time');
  assert.equal(errors.length, 2);
  await app.close();
});

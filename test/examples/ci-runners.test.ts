/** The CI runners example: its queue, and its effect on a service. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Skerry } from '@skerry/sdk';
import { Demand } from '../../examples/ci-runners/demand.ts';
import type { Step } from '../../examples/ci-runners/plan.ts';
import { HttpQueue } from '../../examples/ci-runners/queue.ts';
import { type ReconcileContext as Pass, reconcile } from '../../examples/ci-runners/reconcile.ts';
import { readSettings } from '../../examples/ci-runners/settings.ts';
import { FULL_ONLY, IS_FULL_RUN } from '../support/runs.ts';
import { createApiToken } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';
import {
  addSshKey,
  EXAMPLES,
  findImageId,
  killLeftovers,
  runExample,
  startExample,
} from './example-process.ts';

/** Returns the number of jobs that the test sets, in each supported form. */
class JobsServer {
  count = 0;
  readonly #server: HttpServer;

  constructor() {
    this.#server = createServer((request, response) => {
      const { url, headers } = request;
      if (headers['private-token'] !== 'secret') return response.writeHead(403).end();
      if (url?.startsWith('/total')) return response.setHeader('x-total', this.count).end('[{}]');
      if (url === '/count') return response.end(JSON.stringify({ total_count: this.count, runs: [] }));
      if (url === '/plain') return response.end(String(this.count));
      return response.end('{}');
    });
  }
  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }
  url(path: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const jobsServer = new JobsServer();
before(() => jobsServer.listen());
after(() => jobsServer.close());
after(killLeftovers);

it('a queue length comes from a header, a JSON field, or the body, and errors hide the token', async () => {
  jobsServer.count = 7;
  const headers = { 'PRIVATE-TOKEN': 'secret' };
  const urls = ['/total?scope[]=pending', '/count', '/plain'].map((path) => jobsServer.url(path));
  assert.equal(await new HttpQueue(urls, headers).length(), 21);
  await assert.rejects(
    new HttpQueue([jobsServer.url('/other?token=t')], headers).length(),
    /other returned no number$/,
  );
  await assert.rejects(new HttpQueue([jobsServer.url('/plain?token=t')], {}).length(), /plain returned 403$/);
});

describe('a fleet of CI runners', FULL_ONLY, () => {
  let world: World;
  let skerry: Skerry;
  let env: Record<string, string> = {};
  let folder = '';
  before(async () => {
    // Node runs the hooks of a skipped suite.
    if (!IS_FULL_RUN) return;
    folder = mkdtempSync(join(tmpdir(), 'skerry-runners-'));
    world = await startWorld({ SKERRY_RATE_CAPACITY: '1000' });
    const token = await createApiToken(await world.customer(200));
    skerry = new Skerry({ baseUrl: world.url, token });
    env = {
      SKERRY_API_URL: world.url,
      SKERRY_TOKEN: token,
      QUEUE_URLS: jobsServer.url('/total'),
      QUEUE_HEADER: 'PRIVATE-TOKEN: secret',
      JOBS_PER_RUNNER: '4',
      PLAN: 's1',
      IMAGE: await findImageId(skerry),
      SSH_KEYS: await addSshKey(skerry),
      USER_DATA_FILE: join(EXAMPLES, 'ci-runners/runner.yaml'),
      DRAIN_COMMAND: `echo "$RUNNER_NAME$SKERRY_TOKEN$QUEUE_HEADER $RUNNER_ADDRESS" >>'${folder}/drained'`,
      BUDGET_USD: '30',
    };
  });
  after(async () => {
    if (!IS_FULL_RUN) return;
    await world.close();
    rmSync(folder, { recursive: true });
  });

  const fleet = async () => (await skerry.servers.list({ sort: 'name' }).all()).map(({ name }) => name);
  const balance = async () => (await skerry.balance.get()).usd;
  /** Runs the program once and returns its output lines. */
  const pass = async (...flags: string[]): Promise<string[]> => {
    const { code, output } = await runExample('ci-runners/runners.ts', ['--once', ...flags], env);
    assert.equal(code, 0, output);
    return output
      .trim()
      .split('\n')
      .map((line) => line.replace(/^\S+ /, ''));
  };
  const passOf = (fetch: (request: Request) => Promise<Response>): Pass => {
    const settings = readSettings(env);
    const { baseUrl, token, queueUrls, queueHeaders } = settings;
    const queue = new HttpQueue(queueUrls, queueHeaders);
    const client = new Skerry({ baseUrl, token, fetch, maxRetries: 0 });
    return { settings, queue, demand: new Demand(0), skerry: client, log: () => undefined };
  };

  it('creates each runner once when two passes run at the same time and lose their responses', async () => {
    jobsServer.count = 9;
    assert.deepEqual(await pass('--dry-run'), [
      'create ci-1',
      'create ci-2',
      'create ci-3',
      '9 jobs, 0 runners, 3 of 3 steps',
    ]);
    assert.deepEqual(await fleet(), []);
    const lists = Promise.withResolvers<void>();
    let listCount = 0;
    const interrupted = passOf(async (request) => {
      const response = await fetch(request);
      const { pathname } = new URL(request.url);
      if (pathname !== '/v1/servers') return response;
      // Both passes see the same empty fleet, and neither receives the responses to its orders.
      if (request.method === 'POST') throw new TypeError('the connection is lost');
      listCount += 1;
      if (listCount === 2) lists.resolve();
      await lists.promise;
      return response;
    });
    const taken = await Promise.all([reconcile(interrupted), reconcile(interrupted)]);
    assert.deepEqual(taken, [[], []] satisfies Step[][]);
    assert.deepEqual(await fleet(), ['ci-1', 'ci-2', 'ci-3']);
    assert.equal(Math.round((200 - (await balance())) * 100), 3 * 735);
    assert.deepEqual(await pass(), ['9 jobs, 3 runners, 0 of 0 steps']);
  });

  it('keeps paid runners and stays within the budget', async () => {
    await world.settle();
    jobsServer.count = 0;
    assert.deepEqual(await pass(), ['0 jobs, 3 runners, 0 of 0 steps']);
    jobsServer.count = 99;
    assert.deepEqual(await pass(), ['create ci-4', '99 jobs, 3 runners, 1 of 1 steps']);
    await world.settle();
    assert.deepEqual(await pass(), ['99 jobs, 4 runners, 0 of 0 steps']);
  });

  it('renews needed runners near the end of their cycle and retires the surplus', async () => {
    jobsServer.count = 3;
    const ends = (await skerry.servers.list().all()).map(({ paid_until }) => Date.parse(paid_until));
    const nowMs = Date.parse((await skerry.balance.get()).as_of);
    await world.advance((Math.min(...ends) - nowMs) / 1_000 - 2 * 3_600);
    assert.deepEqual(await pass(), [
      'retire ci-2',
      'retire ci-3',
      'retire ci-4',
      'renew ci-1',
      '3 jobs, 4 runners, 4 of 4 steps',
    ]);
    const drained = readFileSync(join(folder, 'drained'), 'utf8').trim().split('\n').sort();
    assert.deepEqual(
      drained.map((line) => line.replace(/ \d+\.\d+\.\d+\.\d+$/, '')),
      ['ci-2', 'ci-3', 'ci-4'],
    );
    assert.deepEqual(await pass(), ['3 jobs, 4 runners, 0 of 0 steps']);

    const before = await balance();
    await world.advance(3 * 3_600);
    const statuses = await skerry.servers.list({ sort: 'name' }).all();
    assert.deepEqual(
      statuses.map(({ status, suspended_reason }) => [status, suspended_reason]),
      [['running', null], ...Array(3).fill(['suspended', 'not_renewed'])],
    );
    assert.equal(Math.round((before - (await balance())) * 100), 735);
    assert.deepEqual((await pass()).slice(0, -1).sort(), [
      'destroy ci-2',
      'destroy ci-3',
      'destroy ci-4',
      'not renew ci-1',
    ]);
    await world.settle();
    assert.deepEqual(await pass(), ['3 jobs, 1 runners, 0 of 0 steps']);
    assert.deepEqual(await fleet(), ['ci-1']);
  });

  it('runs repeatedly and stops on a signal', async () => {
    jobsServer.count = 5;
    const loop = startExample('ci-runners/runners.ts', [], { ...env, EVERY_S: '1', PATIENCE_MINUTES: '0' });
    await loop.waitForOutput('create ci-2');
    await world.settle();
    await loop.waitForOutput('5 jobs, 2 runners, 0 of 0 steps');
    assert.equal(await loop.stop(), 0);
  });

  it('does not change while the queue is unavailable', async () => {
    const { code, output } = await runExample('ci-runners/runners.ts', ['--once'], {
      ...env,
      QUEUE_HEADER: '',
    });
    assert.equal(code, 1);
    assert.match(output, /returned 403/);
    assert.deepEqual(await fleet(), ['ci-1', 'ci-2']);
  });
});

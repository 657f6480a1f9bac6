/** Messages and results of commands whose response is lost or that are interrupted. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { FULL_ONLY } from '../support/runs.ts';
import { createApiToken } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';
import { type FaultyProxy, startFaultyProxy } from './support/faulty-proxy.ts';
import { type Cli, createCli } from './support/run-cli.ts';

const SIZE = ['--size-gb', '10', '--region', 'par'];

describe('skerry when a response is lost', FULL_ONLY, () => {
  let world: World;
  let proxy: FaultyProxy;
  let cli: Cli;
  before(async () => {
    world = await startWorld({ SKERRY_RATE_CAPACITY: '1000', SKERRY_RATE_REFILL_PER_S: '1000' });
    proxy = await startFaultyProxy(world.url);
    cli = createCli({ url: proxy.url, token: await createApiToken(await world.customer()) });
  });
  afterEach(() => {
    proxy.responses = 'pass';
    proxy.release();
  });
  after(async () => {
    await proxy.stop();
    await world.close();
  });

  const begin = (...words: readonly string[]) => cli.start({}, ...words);

  it('a lost response prints the key with which the same command takes effect once', async () => {
    proxy.responses = 'lost';
    const { code, stdout, stderr } = await cli('volume', 'create', "it's", ...SIZE);
    assert.deepEqual([code, stdout], [8, '']);
    assert.match(stderr, /may have been carried out/);
    assert.ok(stderr.includes("  To check, run: skerry volume list --name 'it'\\''s'\n"), stderr);
    const key = /--idempotency-key (\S+)/.exec(stderr)?.[1] ?? '';
    proxy.responses = 'pass';
    const made = await cli.json('volume', 'create', "it's", ...SIZE, '--idempotency-key', key);
    const all = await cli.json('volume', 'list', '--name', "it's");
    assert.deepEqual(
      all.map(({ id }: { id: string }) => id),
      [made.id],
    );
  });

  it('an interrupted command waits for the response and prints the created resource', async () => {
    for (const [signal, left] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      proxy.responses = 'held';
      const { child, result, waitForOutput } = begin('volume', 'create', signal, ...SIZE, '-o', 'json');
      await proxy.waitUntilHeld();
      child.kill(signal);
      await waitForOutput(/waiting for the response/);
      proxy.release();
      const { code, stdout, stderr } = await result;
      assert.equal(code, left, stderr);
      assert.equal(JSON.parse(stdout).name, signal);
      assert.match(stderr, /waiting for the response/);
    }
  });

  it('a second Ctrl-C exits at once and says that the resource may have been created', async () => {
    proxy.responses = 'held';
    const { child, result, waitForOutput } = begin('volume', 'create', 'twice', ...SIZE);
    await proxy.waitUntilHeld();
    child.kill('SIGINT');
    await waitForOutput(/waiting for the response/);
    child.kill('SIGINT');
    const { code, stderr } = await result;
    assert.equal(code, 130);
    assert.match(stderr, /interrupted before the service responded; volume twice may have been created/);
    assert.match(stderr, /To check, run: skerry volume list --name twice\n.*--idempotency-key \S+\n$/);
  });

  it('an interrupted command without a response says that the outcome is unknown', async () => {
    proxy.responses = 'held';
    const { child, result } = begin('volume', 'update', (await made('grown')).id, '--size-gb', '20');
    await proxy.waitUntilHeld();
    child.kill('SIGINT');
    const { code, stderr } = await result;
    assert.equal(code, 130);
    assert.match(stderr, /interrupted before the service responded; the request may have been carried out/);
  });

  async function made(name: string): Promise<{ readonly id: string }> {
    proxy.responses = 'pass';
    const volume = await cli.json('volume', 'create', name, ...SIZE);
    proxy.responses = 'held';
    return volume;
  }
});

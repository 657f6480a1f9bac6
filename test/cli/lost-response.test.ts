/** What the command says, and what a script is left with, when it does not come to its end. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { FULL_ONLY } from '../support/runs.ts';
import { createApiToken } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';
import { type FaultyProxy, startFaultyProxy } from './support/faulty-proxy.ts';
import { type Cli, createCli } from './support/run-cli.ts';

const SIZE = ['--size-gb', '10', '--region', 'par'];

describe('a call that changes something, and whose answer does not come', FULL_ONLY, () => {
  let world: World;
  let way: FaultyProxy;
  let cli: Cli;
  before(async () => {
    world = await startWorld({ SKERRY_RATE_CAPACITY: '1000', SKERRY_RATE_REFILL_PER_S: '1000' });
    way = await startFaultyProxy(world.url);
    cli = createCli({ url: way.url, token: await createApiToken(await world.customer()) });
  });
  afterEach(() => {
    way.responses = 'pass';
    way.release();
  });
  after(async () => {
    await way.stop();
    await world.close();
  });

  const begin = (...words: readonly string[]) => cli.start({}, ...words);

  it('is told as lost with the key, by which the same command makes it once in all', async () => {
    way.responses = 'lost';
    const { code, stdout, stderr } = await cli('volume', 'create', "it's", ...SIZE);
    assert.deepEqual([code, stdout], [8, '']);
    assert.match(stderr, /may have been carried out all the same/);
    assert.ok(stderr.includes("  to look: skerry volume list --name 'it'\\''s'\n"), stderr);
    const key = /--idempotency-key (\S+)/.exec(stderr)?.[1] ?? '';
    way.responses = 'pass';
    const made = await cli.json('volume', 'create', "it's", ...SIZE, '--idempotency-key', key);
    const all = await cli.json('volume', 'list', '--name', "it's");
    assert.deepEqual(
      all.map(({ id }: { id: string }) => id),
      [made.id],
    );
  });

  it('is waited for after Ctrl-C and SIGTERM, and what was made is printed', async () => {
    for (const [signal, left] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      way.responses = 'held';
      const { child, result, waitForOutput } = begin('volume', 'create', signal, ...SIZE, '-o', 'json');
      await way.waitUntilHeld();
      child.kill(signal);
      await waitForOutput(/a moment, for the answer/);
      way.release();
      const { code, stdout, stderr } = await result;
      assert.equal(code, left, stderr);
      assert.equal(JSON.parse(stdout).name, signal);
      assert.match(stderr, /a moment, for the answer/);
    }
  });

  it('is said to be perhaps made when Ctrl-C is pressed twice', async () => {
    way.responses = 'held';
    const { child, result, waitForOutput } = begin('volume', 'create', 'twice', ...SIZE);
    await way.waitUntilHeld();
    child.kill('SIGINT');
    await waitForOutput(/a moment, for the answer/);
    child.kill('SIGINT');
    const { code, stderr } = await result;
    assert.equal(code, 130);
    assert.match(stderr, /stopped before the answer came; volume twice may have been made all the same/);
    assert.match(stderr, /to look: skerry volume list --name twice\n.*--idempotency-key \S+\n$/);
  });

  it('is said to be perhaps made when no answer comes after Ctrl-C', async () => {
    way.responses = 'held';
    const { child, result } = begin('volume', 'update', (await made('grown')).id, '--size-gb', '20');
    await way.waitUntilHeld();
    child.kill('SIGINT');
    const { code, stderr } = await result;
    assert.equal(code, 130);
    assert.match(
      stderr,
      /stopped before the answer came; what was asked for may have been done all the same/,
    );
  });

  async function made(name: string): Promise<{ readonly id: string }> {
    way.responses = 'pass';
    const volume = await cli.json('volume', 'create', name, ...SIZE);
    way.responses = 'held';
    return volume;
  }
});

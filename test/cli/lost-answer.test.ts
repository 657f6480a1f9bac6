/** What the command says, and what a script is left with, when it does not come to its end. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { IN_FULL } from '../support/runs.ts';
import { apiToken } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';
import { type Cli, cliOf } from './support/run-cli.ts';
import { type SlowWay, startSlowWay } from './support/slow-way.ts';

const SIZE = ['--size-gb', '10', '--region', 'par'];

describe('a call that changes something, and whose answer does not come', IN_FULL, () => {
  let world: World;
  let way: SlowWay;
  let cli: Cli;
  before(async () => {
    world = await startWorld({ SKERRY_RATE_CAPACITY: '1000', SKERRY_RATE_REFILL_PER_S: '1000' });
    way = await startSlowWay(world.url);
    cli = cliOf({ url: way.url, token: await apiToken(await world.customer()) });
  });
  afterEach(() => {
    way.answers = 'pass';
    way.letGo();
  });
  after(async () => {
    await way.stop();
    await world.close();
  });

  const begin = (...words: readonly string[]) => cli.begin({}, ...words);

  it('is told as lost with the key, by which the same command makes it once in all', async () => {
    way.answers = 'lost';
    const { code, stdout, stderr } = await cli('volume', 'create', "it's", ...SIZE);
    assert.deepEqual([code, stdout], [8, '']);
    assert.match(stderr, /may have been carried out all the same/);
    assert.ok(stderr.includes("  to look: skerry volume list --name 'it'\\''s'\n"), stderr);
    const key = /--idempotency-key (\S+)/.exec(stderr)?.[1] ?? '';
    way.answers = 'pass';
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
      way.answers = 'held';
      const { child, end, until } = begin('volume', 'create', signal, ...SIZE, '-o', 'json');
      await way.whenHeld();
      child.kill(signal);
      await until(/a moment, for the answer/);
      way.letGo();
      const { code, stdout, stderr } = await end;
      assert.equal(code, left, stderr);
      assert.equal(JSON.parse(stdout).name, signal);
      assert.match(stderr, /a moment, for the answer/);
    }
  });

  it('is said to be perhaps made when Ctrl-C is pressed twice', async () => {
    way.answers = 'held';
    const { child, end, until } = begin('volume', 'create', 'twice', ...SIZE);
    await way.whenHeld();
    child.kill('SIGINT');
    await until(/a moment, for the answer/);
    child.kill('SIGINT');
    const { code, stderr } = await end;
    assert.equal(code, 130);
    assert.match(stderr, /stopped before the answer came; volume twice may have been made all the same/);
    assert.match(stderr, /to look: skerry volume list --name twice\n.*--idempotency-key \S+\n$/);
  });

  it('is said to be perhaps made when no answer comes after Ctrl-C', async () => {
    way.answers = 'held';
    const { child, end } = begin('volume', 'update', (await made('grown')).id, '--size-gb', '20');
    await way.whenHeld();
    child.kill('SIGINT');
    const { code, stderr } = await end;
    assert.equal(code, 130);
    assert.match(
      stderr,
      /stopped before the answer came; what was asked for may have been done all the same/,
    );
  });

  async function made(name: string): Promise<{ readonly id: string }> {
    way.answers = 'pass';
    const volume = await cli.json('volume', 'create', name, ...SIZE);
    way.answers = 'held';
    return volume;
  }
});

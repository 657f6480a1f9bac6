import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { FULL_ONLY } from '../../support/runs.ts';
import { respondWith } from '../../support/webhook-receiver.ts';
import { createExampleAccount, type ExampleAccount, startExampleWorld } from '../support/example-account.ts';
import { type Cli, createCli, runProgram } from '../support/run-cli.ts';

describe('skerry webhook and events', FULL_ONLY, () => {
  let account: ExampleAccount;
  let cli: Cli;
  let env: Readonly<Record<string, string>>;
  before(async () => {
    account = await createExampleAccount(await startExampleWorld());
    cli = createCli({ url: account.world.url, token: account.token });
    env = { ...cli.env, PATH: `${join(account.folder, 'bin')}:${process.env.PATH}` };
  });
  after(() => account.world.close());

  it('webhook create shows the secret once and subscribes to all events by default', async () => {
    const made = ['webhook', 'create', account.world.receiver.url('/new')];
    const { stdout, stderr } = await cli(...made);
    assert.match(stdout, /Events: +\*\n/);
    assert.match(stdout, /Secret: +whsec_\S+\n/);
    assert.match(stderr, /secret is shown only once/);
    const { id, events } = await cli.json(...made, '--event', 'server.running,server.stopped');
    assert.deepEqual(events, ['server.running', 'server.stopped']);
    assert.equal((await cli.json('webhook', 'update', id, '--active', 'false')).active, false);
    assert.equal((await cli('webhook', 'test', id)).code, 6);
    assert.equal((await cli('webhook', 'update', id)).code, 2);
  });

  it('webhook test shows the result of a ping and exits with 10 if it failed', async () => {
    const { receiver } = account.world;
    const url = receiver.url('/broken', respondWith(500));
    const { id } = await cli.json('webhook', 'create', url, '--event', 'server.suspended');
    const { code, stdout, stderr } = await cli('webhook', 'test', id);
    assert.equal(code, 10);
    assert.match(stdout, /HTTP status: +500\n/);
    assert.match(stderr, /^skerry: delivery del_\w+ is failed: HTTP 500\n$/);
    receiver.url('/broken', respondWith(204));
    const [failed] = await cli.json('webhook', 'deliveries', id, '--status', 'failed');
    const replayed = await cli.json('webhook', 'replay', id, failed.id);
    assert.deepEqual([replayed.status, replayed.event], ['delivered', failed.event]);
  });

  it('webhook describe shows the scope of a webhook and why it is paused', async () => {
    const { id } = await cli.json('webhook', 'create', account.world.receiver.url('/gone', respondWith(410)));
    assert.match((await cli('webhook', 'describe', id)).stdout, /Paused reason: +-\nScope: +billing\n/);
    assert.equal((await cli('webhook', 'test', id)).code, 10);
    const shown = ['webhook', 'list', '--active', 'false', '-o', 'columns=id,paused_reason', '--no-header'];
    assert.match((await cli(...shown)).stdout, new RegExp(`^${id} +endpoint_gone$`, 'm'));
  });

  it('webhook create and events reject an unknown event type', async () => {
    const { code, stderr } = await cli(
      'webhook',
      'create',
      'https://example.com/',
      '--event',
      'server.runing',
    );
    assert.equal(code, 7);
    assert.match(stderr, /server\.running/);
    assert.equal((await cli('events', '--type', 'server.runing')).code, 2);
  });

  it('events prints one JSON object per line and ends silently on Ctrl-C', async () => {
    const words = ['events', '--after', '0', '--type', 'snapshot,volume', '-o', 'json'];
    const { child, result, waitForOutput } = cli.start({}, ...words);
    await waitForOutput(/\n/);
    child.kill('SIGINT');
    const { code, stdout, stderr } = await result;
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual([events[0].type, events[0].data.snapshot.name], ['snapshot.ready', 'before-upgrade']);
    assert.deepEqual([code, stderr], [130, '']);
  });

  it('events prints new events as they occur', async () => {
    const { child, result, waitForOutput, stop } = cli.start({}, 'events', '--type', 'token');
    const printed = waitForOutput(/\n/);
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    printed.then(over, over);
    try {
      // Events before the stream is open are not printed: create tokens until one is.
      while (!isOver) await cli.json('token', 'create', '--name', 'fresh', '--scope', 'read');
      await printed;
      child.kill('SIGINT');
      const { stdout } = await result;
      assert.match(stdout, /^\d+ +\d{4}-\d\d-\d\d \d\d:\d\d +token\.created +fresh\/tok_\w+\n/);
    } finally {
      stop();
    }
  });

  it('events ends at the next event after its reader has left', async () => {
    // No other test revokes a token: an event of a test before may still be on its way.
    const line = 'set -o pipefail; skerry events --type token.revoked --no-header | head -1';
    const ended = runProgram(['bash', '-c', line], { env });
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    ended.then(over, over);
    while (!isOver) {
      const { id } = await cli.json('token', 'create', '--name', 'late', '--scope', 'read');
      assert.equal((await cli('token', 'revoke', id, '--yes')).code, 0);
    }
    const { code, stdout, stderr } = await ended;
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^\d+ .* token\.revoked +late\/tok_\w+\n$/);
  });
});

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { FULL_ONLY } from '../support/runs.ts';
import { respondWith } from '../support/webhook-receiver.ts';
import { createExampleAccount, type ExampleAccount, startExampleWorld } from './support/example-account.ts';
import { type Cli, createCli, runProgram } from './support/run-cli.ts';

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

  it('shows the secret once, subscribes to all unless told otherwise, and is paused', async () => {
    const made = ['webhook', 'create', account.world.receiver.url('/new')];
    const { stdout, stderr } = await cli(...made);
    assert.match(stdout, /Events: +\*\n/);
    assert.match(stdout, /Secret: +whsec_\S+\n/);
    assert.match(stderr, /secret is shown this once/);
    const { id, events } = await cli.json(...made, '--event', 'server.running,server.stopped');
    assert.deepEqual(events, ['server.running', 'server.stopped']);
    assert.equal((await cli.json('webhook', 'update', id, '--active', 'false')).active, false);
    assert.equal((await cli('webhook', 'test', id)).code, 6);
    assert.equal((await cli('webhook', 'update', id)).code, 2);
  });

  it('says how a ping went, and leaves with 10 where nobody took it', async () => {
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

  it('refuses an event that does not exist', async () => {
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

  it('follows events, a JSON object a line, and ends without a word on Ctrl-C', async () => {
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

  it('tells of what happens from now on', async () => {
    const { child, result, waitForOutput, stop } = cli.start({}, 'events', '--type', 'token');
    const told = waitForOutput(/\n/);
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    told.then(over, over);
    try {
      // What is made before the stream is open is not told: so another one, until one is.
      while (!isOver) await cli.json('token', 'create', '--name', 'told', '--scope', 'read');
      await told;
      child.kill('SIGINT');
      const { stdout } = await result;
      assert.match(stdout, /^\d+ +\d{4}-\d\d-\d\d \d\d:\d\d +token\.created +told\/tok_\w+\n/);
    } finally {
      stop();
    }
  });

  it('ends when nobody reads its events any more', async () => {
    // There is one: after it nothing is written that could fail.
    const line = 'skerry events --after 0 --type snapshot --no-header | head -1';
    const { code, stdout, stderr } = await runProgram(['sh', '-c', line], { env });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^\d+ .* snapshot\.ready +before-upgrade\/snap_\w+\n$/);
  });
});

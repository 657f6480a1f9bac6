import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createExampleAccount, type ExampleAccount, startExampleWorld } from '../support/example-account.ts';
import { type Cli, createCli } from '../support/run-cli.ts';

describe('skerry alert', () => {
  let account: ExampleAccount;
  let cli: Cli;
  before(async () => {
    account = await createExampleAccount(await startExampleWorld());
    cli = createCli({ url: account.world.url, token: account.token });
  });
  after(() => account.world.close());

  it('alert create watches servers by name, by label, or all, and needs one of them', async () => {
    const create = ['alert', 'create', '--name', 'hot', '--metric', 'ram_pct', '--value', '80.5'];
    const listed = await cli.json(...create, '--server', 'web-1', '--window', '1h');
    assert.deepEqual([listed.servers, listed.value, listed.window], [[account.named['web-1']], 80.5, '1h']);
    const labeled = await cli.json(...create, '--label', 'env=prod', '--label', 'tier=web', '--disabled');
    assert.deepEqual([labeled.label_selector, labeled.enabled], ['env=prod,tier=web', false]);
    const all = await cli.json(
      'alert',
      'create',
      '--name',
      'down',
      '--metric',
      'unreachable',
      '--all-servers',
    );
    assert.deepEqual([all.label_selector, all.value], ['', null]);
    for (const wrong of [[], ['--all-servers', '--label', 'a=b']]) {
      const { code, stderr } = await cli(...create, ...wrong);
      assert.deepEqual([code, /--all-servers/.test(stderr)], [2, true]);
    }
  });

  it('alert update changes given fields, and alert list shows for which servers alerts fire', async () => {
    const changed = await cli.json('alert', 'update', 'busy', '--value', '0', '--compare', 'gt');
    assert.deepEqual([changed.value, changed.servers], [0, [account.named['web-1']]]);
    await account.world.advance(600);
    const { stdout } = await cli(
      'alert',
      'list',
      '--name',
      'busy',
      '-o',
      'columns=name,firing',
      '--no-header',
    );
    assert.equal(stdout.trim().replace(/ +/, ' '), `busy ${account.named['web-1']}`);
    const { code } = await cli('alert', 'delete', 'busy', '--yes');
    assert.equal(code, 0);
    assert.deepEqual(await cli.json('alert', 'list', '--name', 'busy'), []);
  });

  it('server metrics --step shows values by the minute', async () => {
    const { step_s, series } = await cli.json('server', 'metrics', 'web-1', '--step', '60');
    assert.equal(step_s, 60);
    assert.ok(series.cpu_pct.length >= 5);
  });
});

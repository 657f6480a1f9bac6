import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createExampleAccount, type ExampleAccount, startExampleWorld } from '../support/example-account.ts';
import { type Cli, createCli } from '../support/run-cli.ts';

describe('labels in skerry', () => {
  let account: ExampleAccount;
  let cli: Cli;
  before(async () => {
    account = await createExampleAccount(await startExampleWorld());
    cli = createCli({ url: account.world.url, token: account.token });
  });
  after(() => account.world.close());

  const list = async (kind: string, ...labels: string[]): Promise<string[]> => {
    const options = labels.flatMap((label) => ['--label', label]);
    const items = await cli.json(kind, 'list', '--sort', 'name', ...options);
    return items.map(({ name }: { readonly name: string }) => name);
  };

  it('volume and snapshot create set labels, and volume update changes them', async () => {
    const size = ['--size-gb', '10', '--region', 'par'];
    const made = await cli.json(
      'volume',
      'create',
      'logs',
      ...size,
      '--label',
      'env=prod',
      '--label',
      'a=b=c',
    );
    assert.deepEqual(made.labels, { env: 'prod', a: 'b=c' });
    const update = ['volume', 'update', 'logs'];
    const changed = await cli.json(...update, '--add-label', 'tier=db', '--remove-label', 'a');
    assert.deepEqual(changed.labels, { env: 'prod', tier: 'db' });
    assert.deepEqual((await cli.json(...update, '--label', '')).labels, {});
    const both = await cli(...update, '--label', 'a=1', '--add-label', 'b=2');
    assert.deepEqual([both.code, /^skerry: --label replaces all of them/.test(both.stderr)], [2, true]);
    const snapshot = await cli.json(
      'snapshot',
      'create',
      'web-1',
      '--name',
      'now',
      '--label',
      'kind=nightly',
    );
    assert.deepEqual([snapshot.status, snapshot.labels], ['ready', { kind: 'nightly' }]);
    const shown = await cli('snapshot', 'list', '--name', 'now', '-o', 'columns=name,labels', '--no-header');
    assert.equal(shown.stdout.trim().replace(/ +/, ' '), 'now kind=nightly');
  });

  it('list filters by all of its labels, together with other filters', async () => {
    const { api, named, create } = account;
    for (const [name, labels] of Object.entries({
      one: { env: 'prod', tier: 'web' },
      two: { env: 'prod', url: 'http://a' },
    })) {
      await create('/volumes', { name, size_gb: 10, region: 'par', labels });
      await create(`/servers/${named['web-1']}/snapshots`, { name, labels });
    }
    await api.patch(`/servers/${named['web-1']}`, { labels: { env: 'prod', note: '' } });
    for (const kind of ['volume', 'snapshot']) {
      assert.deepEqual(await list(kind, 'env=prod'), ['one', 'two']);
      assert.deepEqual(await list(kind, 'env=prod', 'tier=web'), ['one']);
      assert.deepEqual(await list(kind, 'url=http://a'), ['two']);
      assert.deepEqual(await list(kind, 'env=prod', 'env=test'), []);
    }
    assert.deepEqual(await list('server', 'env=prod', 'note='), ['web-1']);
    assert.deepEqual(await list('server', 'env=test'), []);
    assert.equal((await cli.json('volume', 'list', '--label', 'env=prod', '--name', 'two')).length, 1);
  });

  it('list explains a malformed label before it sends a request', async () => {
    const unreachable = createCli({ url: 'http://127.0.0.1:1', token: account.token });
    for (const label of ['env', '', '=prod', 'env:prod', 'a:b=c', 'Env=prod']) {
      const { code, stderr } = await unreachable('volume', 'list', '--label', label);
      const expected = `skerry: --label: "${label}" is invalid; use key=value, such as env=prod\n`;
      assert.deepEqual([code, stderr], [2, expected]);
    }
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { FULL_ONLY } from '../../support/runs.ts';
import { createApiToken } from '../../support/v1-client.ts';
import { createExampleAccount, type ExampleAccount, startExampleWorld } from '../support/example-account.ts';
import { type Cli, createCli } from '../support/run-cli.ts';

describe('skerry volume, snapshot, audit, and ledger', FULL_ONLY, () => {
  let account: ExampleAccount;
  let cli: Cli;
  before(async () => {
    account = await createExampleAccount(await startExampleWorld());
    cli = createCli({ url: account.world.url, token: account.token });
  });
  after(() => account.world.close());

  it('volume commands create, rename, and grow a volume', async () => {
    const made = ['volume', 'create', 'logs', '--size-gb', '20', '--region', 'par', '--encrypted'];
    const { encrypted, filesystem } = await cli.json(...made);
    assert.deepEqual([encrypted, filesystem], [true, null]);
    const grown = await cli.json('volume', 'update', 'logs', '--name', 'old-logs', '--size-gb', '30');
    assert.deepEqual([grown.name, grown.size_gb], ['old-logs', 30]);
  });

  it('volume update rejects a smaller size and an empty change', async () => {
    const shrunk = await cli('volume', 'update', 'data', '--size-gb', '20');
    assert.equal(shrunk.code, 7);
    assert.match(shrunk.stderr, /^skerry: --size-gb: volume data has 50 GiB and cannot shrink/);
    const unchanged = await cli('volume', 'update', 'data');
    assert.equal(unchanged.code, 2);
    assert.match(unchanged.stderr, /specify --name, --size-gb, --label, .* or --delete-protection\n$/);
  });

  it('volume commands attach, find, and detach a volume, and delete it only when detached', async () => {
    assert.match((await cli.json('volume', 'attach', 'data', 'web-1')).device, /^\/dev\/vd/);
    assert.equal((await cli.json('volume', 'list', '--attached-to', 'web-1')).length, 1);
    assert.equal((await cli('volume', 'delete', 'data', '--yes')).code, 6);
    assert.equal((await cli.json('volume', 'detach', 'data')).attached_to, null);
    await account.world.settle();
    assert.equal((await cli('volume', 'delete', 'data')).code, 11);
    const { code, stdout } = await cli('volume', 'delete', 'data', '--yes');
    assert.deepEqual([code, stdout], [0, '']);
  });

  it('volume commands wait until the change is made, unless --no-wait is given', async () => {
    const made = ['volume', 'create', 'busy', '--size-gb', '20', '--region', 'par'];
    await cli.json(...made);
    const steps = [
      ['attach', 'busy', 'web-1'],
      ['update', 'busy', '--size-gb', '30'],
      ['detach', 'busy'],
    ];
    for (const step of steps) assert.equal((await cli.json('volume', ...step)).action, null, step[0]);
    const begun = await cli.json('volume', 'attach', 'busy', 'web-1', '--no-wait');
    assert.equal(begun.action.command, 'volume.attach');
  });

  it('snapshot create waits until the snapshot is ready, unless --no-wait is given', async () => {
    const made = ['snapshot', 'create', 'web-1'];
    assert.equal((await cli.json(...made, '--name', 'now', '--expires-at', '30d')).status, 'ready');
    assert.equal((await cli.json(...made, '--name', 'later', '--no-wait')).status, 'creating');
    const names = (await cli.json('snapshot', 'list', '--server', 'web-1')).map(
      ({ name }: { readonly name: string }) => name,
    );
    assert.deepEqual(names, ['later', 'now', 'before-upgrade']);
  });

  it('audit list filters changes by action and time', async () => {
    const list = ['audit', 'list', '--action', 'volume.create', '--from', '1h'];
    const [last] = await cli.json(...list);
    assert.equal((await cli.json('audit', 'describe', last.id)).request_id, last.request_id);
    assert.deepEqual(await cli.json(...list, '--to', '30m'), []);
  });

  it('ledger requires a token with scope billing', async () => {
    const [charge, ...more] = await cli.json('ledger', '--type', 'charge');
    assert.deepEqual([charge.type, more], ['charge', []]);
    const customer = await account.world.customer();
    const run = { env: { SKERRY_TOKEN: await createApiToken(customer, 'write') } };
    assert.equal((await cli.with(run, 'ledger')).code, 4);
  });
});

/** Commands that wait while the service is unavailable for a moment. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { FULL_ONLY } from '../support/runs.ts';
import { createApiToken } from '../support/v1-client.ts';
import { type ExampleWorld, startExampleWorld } from './support/example-account.ts';
import { type Recorder, startRecorder } from './support/recorder.ts';
import { type Cli, createCli } from './support/run-cli.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBWBlpcKVr8nCRYeXJsJkQy7jLRJJpXlLZ3GWVLDdRx0 laptop';
/** More than one call: the client makes four attempts per call. */
const REFUSED = 6;

describe('skerry during an outage', FULL_ONLY, () => {
  let world: ExampleWorld;
  let proxy: Recorder;
  let cli: Cli;
  let refused = 0;
  before(async () => {
    world = await startExampleWorld();
    proxy = await startRecorder(world.url, (operation) => {
      if (!['servers.get', 'snapshots.get', 'deliveries.list'].includes(operation) || refused >= REFUSED)
        return false;
      refused += 1;
      return true;
    });
    cli = createCli({ url: proxy.url, token: await createApiToken(await world.customer(100)) });
    await cli.json('ssh-key', 'create', '--name', 'laptop', '--public-key', KEY);
  });
  after(async () => {
    await proxy.stop();
    await world.close();
  });

  it('server create keeps waiting during an outage and prints the server', async () => {
    const order = ['web-1', '--plan', 's1', '--region', 'par', '--image', 'debian-13'];
    const server = await cli.json('server', 'create', ...order);
    assert.deepEqual([server.status, refused], ['running', REFUSED]);
  });

  it('snapshot create keeps waiting during an outage', async () => {
    refused = 0;
    const snapshot = await cli.json('snapshot', 'create', 'web-1');
    assert.deepEqual([snapshot.status, refused], ['ready', REFUSED]);
  });

  it('webhook test keeps waiting during an outage', async () => {
    refused = 0;
    const { id } = await cli.json('webhook', 'create', world.receiver.url('/hooks'));
    const delivery = await cli.json('webhook', 'test', id);
    assert.deepEqual([delivery.status, refused], ['delivered', REFUSED]);
  });

  it('two SSH keys with the same name and fingerprint are not ambiguous', async () => {
    await cli.json('ssh-key', 'create', '--name', 'laptop', '--public-key', KEY);
    const order = ['web-2', '--plan', 's1', '--region', 'par', '--image', 'debian-13', '--no-wait'];
    assert.equal((await cli.json('server', 'create', ...order, '--ssh-key', 'laptop')).ssh_keys.length, 1);
  });

  it('server create with an empty --ssh-key creates nothing', async () => {
    const order = ['web-3', '--plan', 's1', '--region', 'par', '--image', 'debian-13', '--ssh-key', ''];
    assert.equal((await cli('server', 'create', ...order)).code, 2);
    assert.deepEqual(await cli.json('server', 'list', '--name', 'web-3'), []);
  });
});

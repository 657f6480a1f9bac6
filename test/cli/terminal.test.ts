import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { FULL_ONLY, IS_FULL_RUN } from '../support/runs.ts';
import { createApiToken } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';
import { type Cli, createCli } from './support/run-cli.ts';
import { CTRL_C, runOnTerminal } from './support/run-on-terminal.ts';
import { withTimeout } from './support/with-timeout.ts';

describe('skerry on a terminal', { concurrency: true }, () => {
  let world: World;
  let cli: Cli;
  /** Accepts requests and never responds. */
  let silent: Server;
  before(async () => {
    world = await startWorld({ SKERRY_RATE_CAPACITY: '1000', SKERRY_RATE_REFILL_PER_S: '1000' });
    cli = createCli({ url: world.url, token: await createApiToken(await world.customer()) });
    silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    silent.closeAllConnections();
    silent.close();
    await world.close();
  });

  const volume = async (name: string) => {
    await cli.json('volume', 'create', name, '--size-gb', '10', '--region', 'par');
  };
  const has = async (name: string) => (await cli.json('volume', 'list', '--name', name)).length === 1;
  const silentUrl = () => `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;

  it('a destructive command asks first and does nothing without a yes', async () => {
    await volume('kept');
    for (const press of IS_FULL_RUN ? ['n\r', '\r', 'yep\r', 'no y\r'] : ['\r']) {
      const keys = [{ after: 'Continue? [y/N] ', press }];
      const { code, screen } = await runOnTerminal({ env: cli.env, keys }, 'volume', 'delete', 'kept');
      assert.deepEqual([code, /nothing was changed/.test(screen)], [11, true], screen);
    }
    const keys = [{ after: 'Continue? [y/N] ', press: CTRL_C }];
    assert.equal((await runOnTerminal({ env: cli.env, keys }, 'volume', 'delete', 'kept')).code, 130);
    assert.ok(await has('kept'));
    const yes = [{ after: 'Continue? [y/N] ', press: 'y\r' }];
    assert.equal((await runOnTerminal({ env: cli.env, keys: yes }, 'volume', 'delete', 'kept')).code, 0);
    assert.ok(!(await has('kept')));
  });

  it('a destructive command without a terminal requires --yes', FULL_ONLY, async () => {
    await volume('asked');
    const { code, stderr } = await cli('volume', 'delete', 'asked');
    assert.deepEqual([code, /--yes/.test(stderr), await has('asked')], [11, true, true]);
    assert.equal((await cli('volume', 'delete', 'asked', '--yes')).code, 0);
    assert.ok(!(await has('asked')));
  });

  it('progress is shown on a terminal, but not in a pipe or with --quiet', FULL_ONLY, async () => {
    const words = ['topup', '--coin', 'LTC', '--amount-usd', '30', '--timeout', '1'];
    const [shown, quiet, piped] = await Promise.all([
      runOnTerminal({ env: cli.env }, ...words),
      runOnTerminal({ env: cli.env }, '--quiet', ...words),
      cli(...words),
    ]);
    assert.deepEqual([shown.code, quiet.code, piped.code], [9, 9, 9]);
    assert.match(shown.screen, /waiting for the payment/);
    for (const screen of [quiet.screen, piped.stderr]) {
      assert.doesNotMatch(screen, /waiting for the payment/);
      assert.doesNotMatch(screen, /▀/);
      assert.match(screen, /Send exactly/, 'the payment is shown in any case');
    }
  });

  it('Ctrl-C stops a command while the host does not respond', async () => {
    const requested = withTimeout(once(silent, 'request'), 'a request from the CLI');
    const { child, result } = cli.start({ env: { SKERRY_API_URL: silentUrl() } }, 'server', 'list');
    await requested;
    child.kill('SIGINT');
    const { code, stderr } = await result;
    assert.deepEqual([code, stderr], [130, 'skerry: interrupted\n']);
  });
});

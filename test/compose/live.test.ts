/** A live service without a coin: no part of a sandbox. No worker runs, so it makes no outside requests. */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { type RunningService, startService } from '../../src/compose/serve.ts';
import { openService } from '../../src/compose/service.ts';
import { loadConfig } from '../../src/config.ts';
import { readStatus } from '../../src/domain/health/status.ts';
import { createScratchDatabase } from '../support/database.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { SessionClient } from '../support/session-client.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';

const folder = scratchFolder();
const SETTINGS = { SKERRY_PORT: '0', SKERRY_DATA_DIR: folder, SKERRY_LOG_LEVEL: 'silent' };
const LIVE = loadConfig({
  ...SETTINGS,
  SKERRY_MODE: 'live',
  SKERRY_COMPUTE: 'qemu',
  SKERRY_QEMU_NETNS: 'skerry-test-nowhere',
  DATABASE_URL: 'postgres://u:p@127.0.0.1/elsewhere',
});

describe('a live service', () => {
  let scratch: Awaited<ReturnType<typeof createScratchDatabase>>;
  let running: RunningService;
  let customer: SessionClient;
  before(async () => {
    scratch = await createScratchDatabase();
    running = await startService(LIVE, scratch.connection, { roles: new Set(['api']) });
    customer = SessionClient.forUrl(running.url ?? '');
    await customer.signUp();
  });
  after(async () => {
    await running?.stop();
    await scratch?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  it('a live service has no simulated driver', () => {
    const { simulation, live, service } = running.opened;
    assert.equal(simulation, null);
    assert.deepEqual(live?.coins, []);
    assert.equal(service.chains.size, 0);
    assert.equal(service.mailer, null);
    assert.equal(service.settings.mode, 'live');
  });

  it('a live service has no endpoints to move the clock, chains, or rates', async () => {
    const paths = ['payments', 'blocks', 'reorgs', 'rates', 'faults', 'clock', 'settle'];
    for (const path of paths) {
      const response = await fetch(`${running.url}/sandbox/${path}`, { method: 'POST', body: '{}' });
      assert.equal(response.status, 404, path);
    }
    assert.equal((await fetch(`${running.url}/sandbox/mails`)).status, 404);
    assert.equal((await fetch(`${running.url}/styleguide`)).status, 404);
  });

  it('the pages of a live service do not mention a sandbox', async () => {
    for (const path of ['/', '/plans', '/status', '/docs', '/billing', '/topup', '/servers']) {
      const { status, text } = await customer.get(path);
      assert.equal(status, 200, path);
      assert.doesNotMatch(text, /class="badge"|This is a sandbox|simulated/, path);
    }
  });

  it('the pages do not offer a coin that is not accepted', async () => {
    for (const path of ['/', '/status', '/topup']) {
      const { status, text } = await customer.get(path);
      assert.equal(status, 200, path);
      assert.match(text, /No coins are accepted right now/, path);
      assert.doesNotMatch(text, /Litecoin|LTC/, path);
    }
  });

  it('a live service without a coin rejects top-ups, and reports it in its status', async () => {
    const created = await customer.post('/topup-api.php', { action: 'create', amount: 40, coin: 'LTC' });
    assert.notEqual(created.body.ok, true);
    const api = V1Client.forUrl(running.url ?? '', await createApiToken(customer));
    const { status, body } = await api.post('/billing/topup', { coin: 'LTC', amount_usd: 40 });
    assert.deepEqual([status, body.error.errors[0].issue], [422, 'unavailable']);
    const findings = await readStatus(running.opened.service);
    assert.ok(
      findings.some(
        ({ level, subject, message }) =>
          level === 'fail' && subject === 'coins' && /no coin is accepted/.test(message),
      ),
    );
  });

  it('a live database never opens as a sandbox, nor the other way around', async () => {
    const sandbox = loadConfig({ ...SETTINGS, SKERRY_DATA_DIR: scratchFolder() });
    await assert.rejects(openService(sandbox, scratch.connection), /OperatorError: this is a live database/);
    const other = await createScratchDatabase();
    const opened = await openService(sandbox, other.connection);
    await opened.close();
    // Test worlds lower the cost of passwords; a service never does.
    assert.match(
      await opened.service.passwords.hash('correct horse'),
      /^\$argon2id\$v=19\$m=32768,t=2,p=1\$/,
    );
    await assert.rejects(openService(LIVE, other.connection), /OperatorError: this is a sandbox database/);
    await other.drop();
    await rm(sandbox.SKERRY_DATA_DIR, { recursive: true, force: true });
  });
});

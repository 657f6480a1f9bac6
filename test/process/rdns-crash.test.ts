/**
 * A process that is killed with SIGKILL while it publishes a reverse name, or while it removes the names of a
 * destroyed server. After the restart resolvers see the wanted name, and the address is not reassigned before
 * that.
 */
import assert from 'node:assert/strict';
import { chmod, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CRASH_POINTS } from '../../src/kernel/crash.ts';
import { NO_PDNS, type Pdns, startPdns } from '../support/pdns.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { SessionClient } from '../support/session-client.ts';
import { killLeftovers, runSkerryd, type SkerrydProcess, startSkerryd } from '../support/skerryd-process.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';
import { topUp } from '../support/world.ts';
import { callSandbox, serviceEnvironment, waitForCrash } from './crash-world.ts';

const ORDER = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 };
const NAME = 'web.example.org';

describe('a process killed with SIGKILL at a reverse name', { skip: FULL_ONLY.skip || NO_PDNS }, () => {
  let folder = '';
  let pdns: Pdns;
  let token = '';
  let server = { id: '', ipv4: { address: '' } };

  const env = (dataDir: string) => ({
    ...serviceEnvironment(dataDir),
    SKERRY_DNS_URL: pdns.url,
    SKERRY_DNS_KEY: pdns.key,
  });
  const api = (serving: SkerrydProcess) => V1Client.forUrl(serving.url, token);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-crash-'));
    // When root runs the tests, the database runs as another user, who must be able to enter this folder.
    await chmod(folder, 0o755);
    pdns = await startPdns();
    const base = env(join(folder, 'base'));
    const serving = await startSkerryd(base);
    const created = await runSkerryd(['dns', 'zones', '--create', '--nameserver', 'ns1.example.org'], base);
    assert.equal(created.code, 0, created.stderr);
    const customer = SessionClient.forUrl(serving.url);
    await customer.signUp();
    const parts = {
      sandbox: (name: string, body: object = {}) => callSandbox(serving.url, name, body),
      settle: () => callSandbox(serving.url, 'settle'),
    };
    await topUp(parts, customer, 50);
    await customer.post('/deploy-api.php', { ...ORDER, root_password: 'correct horse battery' });
    await parts.settle();
    token = await createApiToken(customer);
    [server] = (await api(serving).get('/servers')).body.data;
    assert.equal((await serving.stop()).code, 0);
  });
  after(async () => {
    killLeftovers();
    await pdns?.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  });

  for (const point of CRASH_POINTS.filter((each) => each.startsWith('rdns.'))) {
    it(`publishes the name, and removes it with its server, at ${point}`, async () => {
      const dataDir = join(folder, point);
      await cp(join(folder, 'base'), dataDir, { recursive: true, preserveTimestamps: true });
      await crashDuring(dataDir, (client) => client.post(`/servers/${server.id}/rdns`, { ipv4: NAME }));
      await assertRecovers(dataDir, [`${NAME}.`]);
      await crashDuring(dataDir, (client) => client.delete(`/servers/${server.id}`));
      await assertRecovers(dataDir, []);
    });

    /** Sends a request that reaches the crash point. */
    async function crashDuring(dataDir: string, send: (client: V1Client) => Promise<unknown>): Promise<void> {
      const armed = await startSkerryd({ ...env(dataDir), SKERRY_CRASH_AT: point });
      await send(api(armed)).catch(() => undefined);
      assert.equal((await waitForCrash(armed)).signal, 'SIGKILL', 'the process reached the crash point');
    }
  }

  /** Asserts that the restarted service completes the interrupted work on its own. */
  async function assertRecovers(dataDir: string, names: readonly string[]): Promise<void> {
    const serving = await startSkerryd(env(dataDir));
    try {
      // The lease of the dead process expires in real time.
      await callSandbox(serving.url, 'settle');
      assert.deepEqual(await pdns.lookUp(server.ipv4.address), names);
      const verified = await runSkerryd(['verify'], env(dataDir));
      assert.equal(verified.code, 0, verified.stdout + verified.stderr);
    } finally {
      assert.equal((await serving.stop()).code, 0);
    }
  }
});

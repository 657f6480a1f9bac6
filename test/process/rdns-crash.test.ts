/**
 * A process that is killed with SIGKILL while it publishes a reverse name, or while it removes the names of a
 * destroyed server. After the restart resolvers see the wanted name, and the address is not reassigned before
 * that.
 */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { NO_PDNS, type Pdns, startPdns } from '../support/pdns.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { SessionClient } from '../support/session-client.ts';
import { killLeftovers, runSkerryd, type SkerrydProcess, startSkerryd } from '../support/skerryd-process.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';
import { topUp } from '../support/world.ts';
import { callSandbox, serviceEnvironment } from './crash-world.ts';
import { type KillScenario, testKillPlaces } from './kill-places.ts';

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

  /** Whether the name was committed. In both cases resolvers must see what the API shows. */
  async function isPublished(serving: SkerrydProcess): Promise<boolean> {
    await callSandbox(serving.url, 'settle');
    const { status, body } = await api(serving).get(`/servers/${server.id}`);
    assert.deepEqual([status, body.status], [200, 'running']);
    const names = body.ipv4.rdns === null ? [] : [`${NAME}.`];
    assert.deepEqual(await pdns.lookUp(server.ipv4.address), names);
    return names.length > 0;
  }

  const publish: KillScenario<SkerrydProcess> = {
    name: 'a reverse name',
    run: async (serving) => {
      await api(serving).post(`/servers/${server.id}/rdns`, { ipv4: NAME });
      await callSandbox(serving.url, 'settle');
    },
    finish: async (serving) => {
      // A repetition would heal a lost task, so look first.
      if (!(await isPublished(serving))) await publish.run(serving);
      assert.ok(await isPublished(serving));
      // The name server is not part of the copied folder: every run starts without a name.
      await api(serving).post(`/servers/${server.id}/rdns`, { ipv4: null });
      assert.ok(!(await isPublished(serving)));
    },
  };
  const remove: KillScenario<SkerrydProcess> = {
    name: 'the removal of a server with a reverse name',
    run: async (serving) => {
      await publish.run(serving);
      await api(serving).delete(`/servers/${server.id}`);
      await callSandbox(serving.url, 'settle');
    },
    finish: async (serving) => {
      await callSandbox(serving.url, 'settle');
      if ((await api(serving).get(`/servers/${server.id}`)).status === 200) {
        // The removal was not committed.
        await isPublished(serving);
        assert.equal((await api(serving).delete(`/servers/${server.id}`)).status, 202);
        await callSandbox(serving.url, 'settle');
      }
      assert.equal((await api(serving).get(`/servers/${server.id}`)).status, 404);
      assert.deepEqual(await pdns.lookUp(server.ipv4.address), []);
    },
  };
  for (const scenario of [publish, remove]) {
    it(`${scenario.name} is published or withdrawn`, async (t) => {
      const settings = (name: string) => env(join(folder, name));
      await testKillPlaces(t, { folder, settings, createContext: (serving) => serving }, scenario);
    });
  }
});

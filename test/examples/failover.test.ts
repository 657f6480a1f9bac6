/** The failover example: its effect on a service. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Server, Skerry, type Volume } from '@skerry/sdk';
import { reconcile } from '../../examples/failover/reconcile.ts';
import { readSettings } from '../../examples/failover/settings.ts';
import { createAuthority } from '../support/certificates.ts';
import { freePort } from '../support/free-port.ts';
import { FULL_ONLY, IS_FULL_RUN } from '../support/runs.ts';
import { createApiToken } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';
import {
  addSshKey,
  type ExampleProcess,
  findImageId,
  killLeftovers,
  startExample,
} from './example-process.ts';

after(killLeftovers);

describe('a failover pair', FULL_ONLY, () => {
  let world: World;
  let skerry: Skerry;
  let folder = '';
  let env: Record<string, string> = {};
  let image = '';
  let key = '';
  let volume: Volume;
  let webhook = '';
  let child: ExampleProcess;

  before(async () => {
    // Node runs the hooks of a skipped suite.
    if (!IS_FULL_RUN) return;
    folder = mkdtempSync(join(tmpdir(), 'skerry-failover-'));
    const authority = createAuthority();
    const { cert, key: tlsKey } = authority.issue(['localhost', '127.0.0.1']);
    const [TLS_CERT, TLS_KEY, ca] = ['cert.pem', 'key.pem', 'ca.pem'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(TLS_CERT, cert);
    writeFileSync(TLS_KEY, tlsKey);
    writeFileSync(ca, authority.cert);
    world = await startWorld({
      SKERRY_RATE_CAPACITY: '1000',
      SKERRY_WEBHOOK_ALLOW_LOOPBACK: 'true',
      SKERRY_WEBHOOK_CA_FILE: ca,
    });
    const token = await createApiToken(await world.customer(100), 'write');
    skerry = new Skerry({ baseUrl: world.url, token });
    [image, key] = [await findImageId(skerry), await addSshKey(skerry)];
    volume = await skerry.volumes.create({ name: 'data', size_gb: 10, region: 'par' });
    const port = await freePort();
    const events = ['server.stopped', 'server.suspended', 'server.destroyed'] as const;
    const created = await skerry.webhooks.create({ url: `https://127.0.0.1:${port}/`, events: [...events] });
    webhook = created.id;
    env = {
      SKERRY_API_URL: world.url,
      SKERRY_TOKEN: token,
      WEBHOOK_SECRET: created.secret,
      GROUP: 'db',
      VOLUME: volume.id,
      PORT: String(port),
      RETRY_S: '0.2',
      ANNOUNCE_COMMAND:
        `echo "$PRIMARY_NAME$SKERRY_TOKEN$WEBHOOK_SECRET $PRIMARY_IPV4 $VOLUME_DEVICE" ` +
        `>>'${folder}/announced'`,
      TLS_CERT,
      TLS_KEY,
    };
  });
  after(async () => {
    if (!IS_FULL_RUN) return;
    await world.close();
    rmSync(folder, { recursive: true });
  });

  const create = async (name: string, role: string): Promise<Server> => {
    const labels = { group: 'db', role };
    const order = { name, plan: 's1', region: 'par', image, ssh_keys: [key], labels };
    return await skerry.waitFor(await skerry.servers.create(order), 'running', { intervalMs: 50 });
  };
  const stop = async (server: Server): Promise<Server> =>
    await skerry.waitFor(await skerry.servers.stop(server.id), 'stopped', { intervalMs: 50 });
  const announced = () => readFileSync(join(folder, 'announced'), 'utf8').trim().split('\n');
  /** Returns the role and status of each server, and the server that has the volume. */
  const state = async () => {
    const servers = await skerry.servers.list({ sort: 'name' }).all();
    const { attached_to } = await skerry.volumes.get(volume.id);
    const at = servers.find(({ id }) => id === attached_to)?.name ?? null;
    return [...servers.map(({ name, labels, status }) => `${name} ${labels.role} ${status}`), `volume ${at}`];
  };

  it('stays unchanged while the primary runs', async () => {
    child = startExample('failover/failover.ts', [], env);
    await child.waitForOutput('no standby exists');
    const primary = await create('db-1', 'primary');
    await stop(await create('db-2', 'standby'));
    await skerry.volumes.attach(volume.id, { server: primary.id });
    await child.waitForOutput('server.stopped');
    await world.settle();
    assert.deepEqual(await state(), ['db-1 primary running', 'db-2 standby stopped', 'volume db-1']);
  });

  it('moves the volume to the standby, starts it, and announces it when the primary stops', async () => {
    const [primary] = (await skerry.servers.list({ filter: { name: 'db-1' } }).first()).data;
    await skerry.servers.stop(primary?.id ?? '');
    await child.waitForOutput('db-2 is now the primary');
    await world.settle();
    assert.deepEqual(await state(), ['db-1 former stopped', 'db-2 primary running', 'volume db-2']);
    const [standby] = (await skerry.servers.list({ filter: { name: 'db-2' } }).first()).data;
    assert.deepEqual(announced(), [`db-2 ${standby?.ipv4?.address} /dev/vdb`]);
    const disks = await world.simulator.volumes();
    assert.deepEqual(
      disks.map(({ machineId, device }) => [machineId !== null, device]),
      [[true, '/dev/vdb']],
    );
  });

  it('ignores repeated events, also after a restart', async () => {
    const before = await state();
    const log = await skerry.deliveries.list(webhook, { filter: { status: 'delivered' } }).all();
    for (const restarted of [false, true]) {
      if (restarted) {
        await child.stop();
        child = startExample('failover/failover.ts', [], env);
        await child.waitForOutput('listening');
      }
      for (const { id } of log) await skerry.deliveries.replay(webhook, id);
      await world.settle();
    }
    assert.equal(child.output().match(/evt_/g)?.length, log.length);
    assert.deepEqual(await state(), before);
    assert.equal(announced().length, 1);
  });

  it('fails over at the next start when the primary was destroyed in the meantime', async () => {
    assert.equal(await child.stop(), 0);
    const spare = await create('db-3', 'standby');
    const [primary] = (await skerry.servers.list({ filter: { name: 'db-2' } }).first()).data;
    await skerry.servers.delete(primary?.id ?? '');
    await world.settle();
    child = startExample('failover/failover.ts', [], env);
    await child.waitForOutput(`${spare.name} is now the primary`);
    assert.deepEqual(await state(), ['db-1 former stopped', 'db-3 primary running', 'volume db-3']);
    assert.equal(announced().length, 2);
    await child.stop();
  });

  it('reaches the same state after an interruption before or after any change', async () => {
    // db-1 and db-3 take turns. `cut` selects the interrupted change.
    for (let cut = 0; ; cut++) {
      const servers = await skerry.servers.list().all();
      const primary = servers.find(({ labels }) => labels.role === 'primary');
      const other = servers.find(({ id }) => id !== primary?.id);
      assert.ok(primary && other);
      await skerry.servers.update(other.id, { labels: { group: 'db', role: 'standby' } });
      await stop(primary);
      const fetchUntilCut = failAtChange(cut);
      const interrupted = new Skerry({
        baseUrl: world.url,
        token: env.SKERRY_TOKEN ?? '',
        fetch: fetchUntilCut.fetch,
        maxRetries: 0,
      });
      const settings = readSettings(env);
      const lines: string[] = [];
      const log = (line: string) => void lines.push(line);
      const first = await reconcile({ skerry: interrupted, settings, log }).catch(() => 'interrupted');
      await world.settle();
      if (first === 'interrupted') await reconcile({ skerry, settings, log });
      await world.settle();
      const roles = [`${primary.name} former stopped`, `${other.name} primary running`].sort();
      assert.deepEqual(await state(), [...roles, `volume ${other.name}`], `cut ${cut}: ${lines.join('; ')}`);
      if (!fetchUntilCut.wasCut()) {
        // Five changes (detach, attach, start, two labels), each interrupted before and after.
        assert.equal(cut, 10);
        return;
      }
    }
  });

  it('never loses a volume that a running server uses', async () => {
    const [primary] = (await skerry.servers.list({ filter: { status: 'running' } }).first()).data;
    const [other] = (await skerry.servers.list({ filter: { status: 'stopped' } }).first()).data;
    assert.ok(primary && other);
    // Labels can be wrong: the primary without its label still uses the volume.
    await skerry.servers.update(primary.id, { labels: { group: 'db' } });
    await skerry.servers.update(other.id, { labels: { group: 'db', role: 'standby' } });
    const before = await state();
    await assert.rejects(
      reconcile({ skerry, settings: readSettings(env), log: () => undefined }),
      /in use by .* running/,
    );
    assert.deepEqual(await state(), before);
  });
});

/** Interrupts at one change: an even number before the request is sent, an odd number after its response. */
function failAtChange(cut: number) {
  let changes = 0;
  let isCut = false;
  return {
    wasCut: () => isCut,
    fetch: async (request: Request): Promise<Response> => {
      if (isCut) throw new TypeError('interrupted');
      if (request.method === 'GET') return await fetch(request);
      const isLast = changes++ === Math.floor(cut / 2);
      isCut = isLast;
      if (isLast && cut % 2 === 0) throw new TypeError('interrupted');
      const response = await fetch(request);
      if (isLast) throw new TypeError('interrupted');
      return response;
    },
  };
}

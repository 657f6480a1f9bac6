import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createHostInviter, withBackends } from '../../src/compose/backends.ts';
import { newMembership, readMembership } from '../../src/compose/host-files.ts';
import { type Config, loadConfig } from '../../src/config.ts';
import type { Service } from '../../src/domain/context.ts';
import { ensureControlPlane } from '../../src/domain/inventory/control-plane.ts';
import { describeCertificate, renewCertificates } from '../../src/domain/inventory/host-certificates.ts';
import {
  addInvitedHost,
  type Invitation,
  removeHost,
  revokeHost,
} from '../../src/domain/inventory/remote-hosts.ts';
import { JoinOffer } from '../../src/drivers/compute/host/join.ts';
import { type HostServer, startHostServer } from '../../src/drivers/compute/host/server.ts';
import { fingerprintOf, hostSubject, issueIdentity } from '../../src/kernel/certificates.ts';
import { createLogger } from '../../src/kernel/logger.ts';
import { DAY_MS } from '../../src/kernel/time.ts';
import { type BackendCertificateRow, setBackendCertificate } from '../../src/store/inventory/backends.ts';
import { type SimulatedWorld, simulatedWorld } from '../drivers/compute/simulator/simulator-world.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

const WAIT_MS = 20_000;

describe('certificates of hosts', () => {
  let world: TestService;
  let far: SimulatedWorld;
  before(async () => {
    world = await startTestService();
    await world.fixtures.addPlans(['par']);
    far = await simulatedWorld();
  });
  after(async () => {
    await world.close();
    await far.close();
  });

  /** Another process of the control plane. */
  function openProcess(t: { after(close: () => void): void }) {
    const opened = withBackends(world.service.compute, world.service);
    t.after(() => opened.compute.close());
    const service: Service = { ...world.service, ...opened };
    return { ...opened, service };
  }

  async function serve(config: Config, port: number, join?: JoinOffer): Promise<HostServer> {
    const membership = join === undefined ? readMembership(config) : await newMembership(config, 'par-9');
    return await startHostServer({
      driver: far.driver,
      membership,
      listen: { host: '127.0.0.1', port },
      log: createLogger('silent'),
      ...(join === undefined ? {} : { join }),
    });
  }

  /** Invites a host, joins it, and adds it. Its certificates are as old as `ageDays`. */
  async function invite(t: { after(close: () => void): void }, ageDays = 0) {
    const config = loadConfig({ SKERRY_DATA_DIR: scratchFolder() });
    const now = () => new Date(Date.now() - ageDays * DAY_MS);
    const { code, controlPlane, waitForHost } = await createHostInviter(world.service, now).create();
    const server = await serve(config, 0, new JoinOffer(code, controlPlane));
    const host: Invitation = {
      ...{ name: 'par-9', regionId: 'par', address: `127.0.0.1:${server.port}` },
      ...{ cpu: 4, ramMb: 4_096, diskGb: 100 },
    };
    await addInvitedHost(world.service, host, await waitForHost(host));
    t.after(async () => {
      const [left] = await world.db.rows(`select from hosts where name = 'par-9'`);
      if (left === undefined) return;
      await revokeHost(world.service, 'par-9');
      await removeHost(world.service, 'par-9');
    });
    return { config, server, port: server.port };
  }

  /** Replaces the certificate of the host by one from 40 days ago. */
  async function expire(config: Config): Promise<void> {
    const { identity } = await recorded();
    const { authority } = await ensureControlPlane(world.service);
    const now = new Date(Date.now() - 40 * DAY_MS);
    const issued = await issueIdentity(authority, { name: 'par-9', subject: hostSubject(identity), now });
    const path = join(config.SKERRY_DATA_DIR, 'host', 'membership.json');
    const stored = JSON.parse(await readFile(path, 'utf8')) as object;
    await writeFile(path, JSON.stringify({ ...stored, identity: issued }));
    await setBackendCertificate(world.db, 'par-9', describeCertificate(identity, issued.certificate));
  }

  async function recorded(): Promise<BackendCertificateRow & { readonly renewal_failures: number }> {
    const row = await world.db.row<BackendCertificateRow & { readonly renewal_failures: number }>(
      `select identity, fingerprint, certificate_from, certificate_until, renew_at, renewal_failures
         from backends where name = 'par-9'`,
    );
    return row ?? assert.fail('no such backend');
  }

  /** Whether the process reaches the host. */
  async function reaches({ compute }: Pick<Service, 'compute'>): Promise<boolean> {
    const id = 'c0ffee00-0000-4000-8000-000000000001';
    await world.db.run(
      `insert into placed_resources (kind, id, backend) values ('machine', $1, 'par-9')
       on conflict (kind, id) do update set backend = excluded.backend`,
      [id],
    );
    const [state] = await compute.observe([id]);
    await world.db.run(`delete from placed_resources where id = $1`, [id]);
    return state?.state === 'absent';
  }

  async function eventually(isReached: () => Promise<boolean>): Promise<void> {
    for (const until = performance.now() + WAIT_MS; !(await isReached()); await pause(20)) {
      assert.ok(performance.now() < until, 'not reached in time');
    }
  }

  it('a host that joins gets a certificate for 30 days, and survives a restart', async (t) => {
    const { config, server, port } = await invite(t);
    const one = openProcess(t);
    assert.equal(await reaches(one), true);
    const { certificate_until: until, renew_at: renewAt } = await recorded();
    assert.equal(Math.round((until.getTime() - Date.now()) / DAY_MS), 30);
    assert.ok(renewAt < until);
    await server.close();
    const again = await serve(config, port);
    t.after(() => again.close());
    await eventually(() => reaches(one));
    await renewCertificates(one.service);
    assert.deepEqual((await recorded()).renew_at, renewAt, 'nothing was due');
  });

  it('both sides renew at two thirds of the life, and processes go on without a restart', async (t) => {
    const { config, server, port } = await invite(t, 25);
    t.after(() => server.close());
    const [one, two] = [openProcess(t), openProcess(t)];
    assert.deepEqual([await reaches(one), await reaches(two)], [true, true]);
    const before = await recorded();
    await renewCertificates(one.service);
    const next = await recorded();
    assert.notEqual(next.fingerprint, before.fingerprint);
    assert.ok(next.renew_at.getTime() > Date.now() + 15 * DAY_MS);
    assert.deepEqual(
      [await reaches(one), await reaches(two), await reaches(openProcess(t))],
      [true, true, true],
    );
    const { identity } = readMembership(config);
    assert.equal(fingerprintOf(identity.certificate), next.fingerprint);
    await server.close();
    const again = await serve(config, port);
    t.after(() => again.close());
    await eventually(() => reaches(two));
    const own = await world.db.rows<{ certificate: string }>(
      `select certificate from control_plane_identities where role = 'control plane'
        order by created_at desc`,
    );
    const [latest] = own.map(({ certificate }) => new X509Certificate(certificate));
    assert.ok(latest && latest.validToDate.getTime() > Date.now() + 20 * DAY_MS);
  });

  it('a host whose certificate expired while it was off gets a new one when it is back', async (t) => {
    const { config, server, port } = await invite(t);
    await server.close();
    await expire(config);
    const one = openProcess(t);
    await renewCertificates(one.service);
    const failed = await recorded();
    assert.equal(failed.renewal_failures, 1);
    const again = await serve(config, port);
    t.after(() => again.close());
    assert.equal(await reaches(one), false);
    await renewCertificates(one.service, failed.renew_at);
    assert.equal((await recorded()).renewal_failures, 0);
    await eventually(() => reaches(one));
  });

  it('revoking a host ends its connections in every process, and its certificate for good', async (t) => {
    const first = await invite(t);
    t.after(() => first.server.close());
    const [one, two] = [openProcess(t), openProcess(t)];
    assert.deepEqual([await reaches(one), await reaches(two)], [true, true]);
    assert.ok(first.server.connections > 1);
    await revokeHost(world.service, 'par-9');
    // No process makes a call meanwhile.
    await eventually(async () => first.server.connections === 0);
    assert.deepEqual([await reaches(one), await reaches(two)], [false, false]);
    await removeHost(world.service, 'par-9');
    const second = await invite(t);
    await second.server.close();
    // The former machine, with the certificate from before, at the address of the new one.
    const former = await serve(first.config, second.port);
    t.after(() => former.close());
    const three = openProcess(t);
    assert.equal(await reaches(three), false);
    await assert.rejects(renewAtOnce(three.service), /another machine answers/);
  });

  /** Renews at once, and throws what a worker would record. */
  async function renewAtOnce(service: Service): Promise<void> {
    const [backend] = await service.db.rows<Parameters<Service['fleet']['renew']>[0]>(
      `select name, kind, address, fingerprint, identity, true as "isIssued",
              true as "inUse" from backends where name = 'par-9'`,
    );
    if (backend === undefined) return assert.fail('no such backend');
    await service.fleet.renew(backend, async () => assert.fail('a certificate was issued'));
  }

  it('two processes that start at once have one authority', async () => {
    const authorities = await world.db.rows(`select from control_plane_identities where role = 'authority'`);
    assert.equal(authorities.length, 1);
  });

  it('a machine that joins under another name gets no certificate', async (t) => {
    const config = loadConfig({ SKERRY_DATA_DIR: scratchFolder() });
    const { code, controlPlane, waitForHost } = await createHostInviter(world.service).create();
    const server = await serve(config, 0, new JoinOffer(code, controlPlane));
    t.after(() => server.close());
    const address = `127.0.0.1:${server.port}`;
    await assert.rejects(waitForHost({ name: 'par-8', address }), /joins under another name/);
  });
});

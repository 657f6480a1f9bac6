import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { renewHostCertificate } from '../../../../src/drivers/compute/host/renewal.ts';
import { PROTOCOL_VERSIONS } from '../../../../src/drivers/compute/host/wire.ts';
import {
  CONTROL_PLANE,
  fingerprintOf,
  hostSubject,
  issueForRequest,
} from '../../../../src/kernel/certificates.ts';
import { DAY_MS } from '../../../../src/kernel/time.ts';
import { failsAs, machineSpec } from '../compute-world.ts';
import { type SimulatedWorld, simulatedWorld } from '../simulator/simulator-world.ts';
import { type HostWorld, type HostWorldOptions, hostWorld, identity } from './host-world.ts';

const LONG_AGO = new Date(Date.now() - 40 * DAY_MS);

describe('renewing the certificate of a host', () => {
  let simulated: SimulatedWorld;
  before(async () => {
    simulated = await simulatedWorld();
    await simulated.control.addHost({ name: 'one', cpu: 64, ramMb: 65_536, diskGb: 1_024 });
  });
  after(() => simulated.close());

  async function opened(options: HostWorldOptions = {}, after?: (close: () => void) => void) {
    const world = await hostWorld(simulated.driver, options);
    after?.(() => world.close());
    return world;
  }

  const issueFor = (world: HostWorld, id: string) => (request: string) =>
    issueForRequest(world.authority, request, { name: 'far', subject: hostSubject(id) });

  const renew = (world: HostWorld, id = world.backend.identity ?? '') =>
    renewHostCertificate({ ...world.backend, identity: id }, world.credentials, issueFor(world, id));

  it('the host makes another key, and its open connections and its machines go on', async (t) => {
    const world = await opened({}, t.after.bind(t));
    await world.driver.ensure(machineSpec({ id: 'kept', host: 'one' }));
    const before = world.stored.identity;
    await renew(world);
    assert.notEqual(world.stored.identity.key, before.key);
    assert.deepEqual(await world.driver.list(), ['kept']);
    // A process that connects only now sees the new one.
    assert.deepEqual(await world.connect().list(), ['kept']);
    await world.restart();
    assert.deepEqual(await world.connect().list(), ['kept']);
    await world.connect().remove('kept');
  });

  it('a host whose certificate expired serves no call until it gets a new one', async (t) => {
    const world = await opened({ issuedAt: LONG_AGO }, t.after.bind(t));
    await failsAs('transient', world.driver.list());
    await renew(world);
    assert.deepEqual(await world.connect().list(), []);
  });

  it('an expired certificate that is not the latest one is not renewed', async (t) => {
    const world = await opened({ issuedAt: LONG_AGO }, t.after.bind(t));
    const backend = { ...world.backend, fingerprint: 'ab'.repeat(32) };
    const never = async () => assert.fail('a certificate was issued');
    await assert.rejects(renewHostCertificate(backend, world.credentials, never), /expired/);
  });

  it('a host refuses a certificate that would shut the control plane out', async (t) => {
    const world = await opened({}, t.after.bind(t));
    const { backend, credentials, stored } = world;
    const other = await identity(hostSubject(backend.identity ?? ''), { authority: world.authority });
    const [wrong = ''] = other.certificate.split(/(?<=-----END CERTIFICATE-----)/);
    await assert.rejects(
      renewHostCertificate(backend, credentials, async () => wrong),
      /does not fit/,
    );
    assert.deepEqual(world.stored, stored);
    assert.deepEqual(await world.connect().list(), []);
  });

  it('a host that stops between request and certificate is asked again', async (t) => {
    const world = await opened({}, t.after.bind(t));
    const { backend, credentials } = world;
    await assert.rejects(
      renewHostCertificate(backend, credentials, async (request) => {
        await world.restart();
        return await issueFor(world, backend.identity ?? '')(request);
      }),
    );
    await renew(world);
    assert.deepEqual(await world.connect().list(), []);
  });

  it('a host from before there was an authority serves, and moves to it', async (t) => {
    const world = await opened({ isEarlier: true }, t.after.bind(t));
    const { backend, credentials } = world;
    assert.deepEqual(await world.driver.list(), []);
    const id = randomUUID();
    await renew(world, id);
    // Killed before it was recorded: the control plane still presents its former certificate.
    assert.deepEqual(await world.connect({ backend: { ...backend, identity: id } }).list(), []);
    await renew(world, id);
    const moved = { ...backend, identity: id, isIssued: true };
    assert.deepEqual(await world.connect({ backend: moved }).list(), []);
    assert.equal(world.stored.controlPlane.former, null);
    const { authority } = world.stored.controlPlane;
    assert.equal(fingerprintOf(authority ?? ''), fingerprintOf(credentials.authority));
    // From then on the former certificate opens nothing.
    await world.restart();
    await failsAs('transient', world.connect({ backend: { ...backend, identity: id } }).list());
    assert.deepEqual(await world.connect({ backend: moved }).list(), []);
  });

  it('the control plane’s own certificate changes between two connections', async (t) => {
    const world = await opened({}, t.after.bind(t));
    assert.deepEqual(await world.driver.list(), []);
    const issued = await identity(CONTROL_PLANE, { authority: world.authority });
    const next = world.connect({ credentials: async () => ({ ...world.credentials, issued }) });
    assert.deepEqual(await next.list(), []);
    assert.deepEqual(await world.driver.list(), []);
  });
});

describe('versions of the protocol', () => {
  let simulated: SimulatedWorld;
  before(async () => {
    simulated = await simulatedWorld();
  });
  after(() => simulated.close());

  it('an earlier host serves a newer control plane, and says what to update for the rest', async (t) => {
    const world = await hostWorld(simulated.driver, { versions: [1] });
    t.after(() => world.close());
    assert.deepEqual(await world.driver.list(), []);
    const never = async () => assert.fail('a certificate was issued');
    await assert.rejects(
      renewHostCertificate(world.backend, world.credentials, never),
      /update Skerry on host far/,
    );
  });

  it('a newer host serves an earlier control plane', async (t) => {
    const world = await hostWorld(simulated.driver);
    t.after(() => world.close());
    assert.deepEqual(await world.connect({ versions: [1] }).list(), []);
  });

  it('versions that are too far apart are refused with the side to update', async (t) => {
    const newest = Math.max(...PROTOCOL_VERSIONS);
    const world = await hostWorld(simulated.driver, { versions: [newest + 1, newest + 2] });
    t.after(() => world.close());
    await failsAs('transient', world.driver.list(), /update the control plane/);
    const older = await hostWorld(simulated.driver, { versions: [0] });
    t.after(() => older.close());
    await failsAs('transient', older.driver.list(), /update Skerry on the host/);
  });
});

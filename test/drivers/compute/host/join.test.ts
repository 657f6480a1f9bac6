import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createIdentity } from '../../../../src/drivers/compute/host/certificate.ts';
import { openHostDriver } from '../../../../src/drivers/compute/host/driver.ts';
import { askToJoin, createCode, JoinOffer } from '../../../../src/drivers/compute/host/join.ts';
import { fingerprintOf } from '../../../../src/drivers/compute/host/pinned-tls.ts';
import { type HostServer, startHostServer } from '../../../../src/drivers/compute/host/server.ts';
import { createLogger } from '../../../../src/kernel/logger.ts';
import { type SimulatedWorld, simulatedWorld } from '../simulator/simulator-world.ts';

describe('joining', () => {
  let simulated: SimulatedWorld;
  before(async () => {
    simulated = await simulatedWorld();
  });
  after(() => simulated.close());

  const controlPlane = createIdentity('control plane');
  const host = createIdentity('host');

  async function offering(
    code: string,
  ): Promise<{ server: HostServer; address: string; saved: () => boolean }> {
    let isSaved = false;
    const fingerprints = {
      host: fingerprintOf(host.certificate),
      controlPlane: fingerprintOf(controlPlane.certificate),
    };
    const join = new JoinOffer(code, fingerprints, async () => {
      isSaved = true;
    });
    const server = await startHostServer({
      driver: simulated.driver,
      identity: host,
      controlPlane: fingerprints.controlPlane,
      join,
      listen: { host: '127.0.0.1', port: 0 },
      log: createLogger('silent'),
    });
    return { server, address: `127.0.0.1:${server.port}`, saved: () => isSaved };
  }

  it('a host with the code is known by its certificate, and serves calls from then on', async (t) => {
    const code = createCode();
    const { server, address, saved } = await offering(code);
    t.after(() => server.close());
    const fingerprint = await askToJoin(address, { identity: controlPlane, code });
    assert.equal(fingerprint, fingerprintOf(host.certificate));
    assert.equal(saved(), true);
    const driver = openHostDriver({
      backend: { name: 'far', address, fingerprint: fingerprint ?? '' },
      identity: async () => controlPlane,
      nextCall: async () => 1,
      capabilities: simulated.driver.capabilities,
    });
    t.after(() => driver.close());
    assert.deepEqual(await driver.list(), []);
  });

  it('a host with another code is not accepted, and a code works once', async (t) => {
    const code = createCode();
    const { server, address } = await offering(code);
    t.after(() => server.close());
    assert.equal(await askToJoin(address, { identity: controlPlane, code: createCode() }), null);
    assert.equal(await askToJoin(address, { identity: controlPlane, code }), null);
  });

  it('a stranger gets no proof', async (t) => {
    const code = createCode();
    const { server, address, saved } = await offering(code);
    t.after(() => server.close());
    await assert.rejects(askToJoin(address, { identity: createIdentity('stranger'), code }));
    assert.equal(saved(), false);
  });

  it('the certificates are valid X.509 for 20 years', () => {
    const seen = Array.from({ length: 50 }, () => fingerprintOf(createIdentity('host').certificate));
    assert.equal(new Set(seen).size, 50);
  });
});

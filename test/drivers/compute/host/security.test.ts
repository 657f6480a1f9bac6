import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type ConnectionOptions, connect as connectTls, createServer } from 'node:tls';
import { CONTROL_PLANE, hostSubject, type TlsIdentity } from '../../../../src/kernel/certificates.ts';
import { LeaseLost } from '../../../../src/kernel/fail.ts';
import { runWithLease } from '../../../../src/kernel/faults/lease-context.ts';
import { DAY_MS } from '../../../../src/kernel/time.ts';
import { withTimeout } from '../../../../src/kernel/timeout.ts';
import { failsAs, machineSpec } from '../compute-world.ts';
import { type SimulatedWorld, simulatedWorld } from '../simulator/simulator-world.ts';
import { type HostWorld, hostWorld, identity, selfSigned } from './host-world.ts';

describe('a host', () => {
  let simulated: SimulatedWorld;
  let world: HostWorld;
  before(async () => {
    simulated = await simulatedWorld();
    await simulated.control.addHost({ name: 'one', cpu: 64, ramMb: 65_536, diskGb: 1_024 });
    world = await hostWorld(simulated.driver);
  });
  after(async () => {
    await world.close();
    await simulated.close();
  });

  /** Opens a raw HTTP/2 session; null if the host ends it. */
  async function session(wanted: ConnectionOptions): Promise<ClientHttp2Session | null> {
    const socket = connectTls({
      host: '127.0.0.1',
      port: world.server.port,
      rejectUnauthorized: false,
      ALPNProtocols: ['h2'],
      ...wanted,
    });
    const opened = connect('https://host', { createConnection: () => socket });
    opened.on('error', () => undefined);
    const answered = new Promise<boolean>((resolve) => {
      opened.once('close', () => resolve(false));
      const stream = opened.request({ ':method': 'POST', ':path': '/v1/call/list' });
      stream.on('error', () => resolve(false));
      stream.once('response', () => resolve(true));
      stream.end(JSON.stringify({ call: 1, args: [] }));
    });
    if (await answered) return opened;
    opened.destroy();
    return null;
  }
  const as = ({ certificate, key }: TlsIdentity) => ({ cert: certificate, key });
  const longAgo = new Date(Date.now() - 40 * DAY_MS);

  async function post(
    opened: ClientHttp2Session,
    path: string,
    write: (stream: ReturnType<ClientHttp2Session['request']>) => void,
  ): Promise<number | null> {
    const stream = opened.request({ ':method': 'POST', ':path': path }, { endStream: false });
    const status = new Promise<number | null>((resolve) => {
      stream.once('response', (headers) => resolve(Number(headers[':status'])));
      stream.once('close', () => resolve(null));
      stream.on('error', () => resolve(null));
    });
    write(stream);
    const result = await status;
    stream.destroy();
    return result;
  }

  it('only the control plane may call, over TLS 1.3', async () => {
    const { authority, credentials, backend } = world;
    const allowed = await session(as(credentials.issued));
    assert.notEqual(allowed, null);
    allowed?.destroy();
    const host = hostSubject(backend.identity ?? '');
    const refused: Record<string, ConnectionOptions> = {
      none: {},
      'self-signed': as(await selfSigned()),
      'of another authority': as(await identity(CONTROL_PLANE)),
      expired: as(await identity(CONTROL_PLANE, { authority, now: longAgo })),
      'not valid yet': as(
        await identity(CONTROL_PLANE, { authority, now: new Date(Date.now() + 9 * DAY_MS) }),
      ),
      'of this host': as(world.stored.identity),
      'of another host': as(await identity(hostSubject(randomUUID()), { authority })),
      'of the authority itself': as(authority),
      'for the control plane in the role of a host': as(
        await identity({ ...CONTROL_PLANE, role: 'host' }, { authority }),
      ),
      'for a host in the role of the control plane': as(
        await identity({ ...host, role: 'control plane' }, { authority }),
      ),
      'over TLS 1.2': { ...as(credentials.issued), maxVersion: 'TLSv1.2' },
    };
    for (const [name, wanted] of Object.entries(refused)) assert.equal(await session(wanted), null, name);
  });

  it('the control plane sends nothing to a host with another certificate', async (t) => {
    const { authority, backend } = world;
    const host = hostSubject(backend.identity ?? '');
    const presented: Record<string, TlsIdentity> = {
      'self-signed': await selfSigned(),
      'of another authority': await identity(host),
      expired: await identity(host, { authority, now: longAgo }),
      'of another host': await identity(hostSubject(randomUUID()), { authority }),
      'of the control plane': world.credentials.issued,
      'in the role of the control plane': await identity({ ...host, role: 'control plane' }, { authority }),
    };
    for (const [name, each] of Object.entries(presented)) {
      let received = 0;
      const server = createServer({ ...as(each), ALPNProtocols: ['h2'] }, (socket) => {
        socket.on('data', (data) => {
          received += data.length;
        });
        socket.on('error', () => undefined);
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      t.after(() => server.close());
      const { port } = server.address() as AddressInfo;
      const driver = world.connect({ backend: { ...backend, address: `127.0.0.1:${port}` } });
      await failsAs('host', driver.ensure(machineSpec({ id: 'a', host: 'one' })));
      assert.equal(received, 0, name);
    }
  });

  it('a certificate from before a new invitation of the same name is not accepted', async () => {
    const driver = world.connect({ backend: { ...world.backend, identity: randomUUID() } });
    await failsAs('transient', driver.list());
  });

  it('bodies that are too large, endless, or no calls are refused, and the host serves on', async () => {
    const opened = (await session(as(world.credentials.issued))) ?? assert.fail();
    const chunk = Buffer.alloc(65_536, ' ');
    const statuses = [
      await post(opened, '/v1/call/observe', (stream) => {
        for (let sent = 0; sent < 40; sent++) stream.write(chunk);
      }),
      await post(opened, '/v1/call/observe', (stream) => stream.end('{"call":')),
      await post(opened, '/v1/call/constructor', (stream) => stream.end('{"call":1,"args":[]}')),
      await post(opened, '/v1/call/remove', (stream) => stream.end('{"call":1,"args":[{}]}')),
      await post(opened, '/v2/call/list', (stream) => stream.end('{"call":1,"args":[]}')),
    ];
    assert.ok(
      statuses.every((status) => status === null || status >= 400),
      statuses.join(),
    );
    opened.destroy();
    assert.deepEqual(await world.driver.list(), []);
  });

  it('a call that arrives after a later one for the same machine is not carried out', async () => {
    const spec = machineSpec({ id: 'late', host: 'one' });
    const early = await world.nextCall();
    const delayed = world.connect({ nextCall: async () => early });
    await delayed.list();
    await world.driver.ensure(spec);
    await world.driver.remove(spec.id);
    await failsAs('transient', delayed.ensure(spec));
    assert.deepEqual(await world.driver.list(), []);
  });

  it('calls from before the restart of a host are late', async () => {
    const early = await world.nextCall();
    const numbers = [await world.nextCall(), early];
    await world.restart();
    const driver = world.connect({ nextCall: async () => numbers.shift() ?? early });
    await failsAs('transient', driver.ensure(machineSpec({ id: 'early', host: 'one' })));
    assert.deepEqual(await simulated.driver.list(), []);
  });

  it('a call for a lease that ended meanwhile is not sent', async () => {
    const spec = machineSpec({ id: 'lost', host: 'one' });
    await assert.rejects(
      runWithLease(
        async () => false,
        () => world.driver.ensure(spec),
      ),
      LeaseLost,
    );
    assert.deepEqual(await simulated.driver.list(), []);
  });

  it('a stranger who never starts the handshake is cut off', async () => {
    const stranger = connectTcp(world.server.port, '127.0.0.1').resume();
    await withTimeout(once(stranger, 'close'), 30_000);
  });

  it('a host that stops does not wait for a handshake', async () => {
    const stopping = await hostWorld(simulated.driver);
    const stranger = connectTcp(stopping.server.port, '127.0.0.1');
    await once(stranger, 'connect');
    // Accepted after the stranger.
    await stopping.driver.list();
    stopping.driver.close();
    await withTimeout(Promise.all([once(stranger, 'close'), stopping.close()]), 4_000);
  });

  it('a driver connects again after its host restarted', async () => {
    await world.driver.list();
    await world.restart();
    for (let attempt = 0; ; attempt++) {
      const listed = await world.driver.list().catch(() => null);
      if (listed !== null) break;
      assert.ok(attempt < 2_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
});

/** A real host over TLS receives images from the jobs of a running service. No machine starts here. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { readStatus } from '../../src/domain/health/status.ts';
import { importBaseImage } from '../../src/domain/images/base-images.ts';
import { readDistribution } from '../../src/domain/images/distribute.ts';
import { ensureControlPlane } from '../../src/domain/inventory/control-plane.ts';
import { describeCertificate } from '../../src/domain/inventory/host-certificates.ts';
import { addInvitedHost } from '../../src/domain/inventory/remote-hosts.ts';
import { FileOffers } from '../../src/drivers/compute/host/file-offers.ts';
import { type PeerListener, startPeerListener } from '../../src/drivers/compute/host/peer-listener.ts';
import { openQemuCompute, type QemuCompute } from '../../src/drivers/compute/qemu/driver.ts';
import { newId } from '../../src/kernel/ids.ts';
import { createLogger } from '../../src/kernel/logger.ts';
import { runOperator } from '../../src/operator/run.ts';
import type { HostFiles } from '../../src/ports/host-files.ts';
import { machineSpec } from '../drivers/compute/compute-world.ts';
import { type HostWorld, hostWorld } from '../drivers/compute/host/host-world.ts';
import { findProgram, skipUnlessInstalled } from '../support/installed-programs.ts';
import { startWorld, type World } from '../support/world.ts';

const MIB = 1024 ** 2;
const WAIT_MAX_MS = 60_000;
const SIZE = { cpu: 4, ramMb: 4_096, diskGb: 100 };
class CountedOffers extends FileOffers {
  opened = 0;
  override open(...args: Parameters<FileOffers['open']>): () => void {
    const end = super.open(...args);
    this.opened += 1;
    return end;
  }
}

const skip = skipUnlessInstalled(findProgram(['qemu-img']), 'qemu-img is not installed');

describe('images and hosts', { skip }, () => {
  let folder: string;
  let world: World;
  let host: QemuCompute;
  let far: HostWorld;
  let offers: CountedOffers;
  let peers: PeerListener;
  /** Paths of files that `far` sends to other hosts in turn, in place of its own. */
  let lies: string[] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-send-'));
    world = await startWorld({
      SKERRY_COMPUTE: 'qemu',
      SKERRY_QEMU_DIR: join(folder, 'qemu'),
      SKERRY_QEMU_HOSTS: 'one',
      SKERRY_QEMU_ACCELERATOR: 'tcg',
      SKERRY_QEMU_NETNS: 'skerry-test-nowhere',
    });
    host = openQemuCompute({
      dir: join(folder, 'far'),
      hosts: ['far'],
      accelerator: 'tcg',
      netns: 'skerry-test-nowhere',
      log: createLogger('silent'),
    });
    // Without a network there is nothing to supervise, and a failure would mark the host as away.
    const { service } = world.opened;
    await world.customer();
    const { authority } = await ensureControlPlane(service);
    const transfers = { find: (id: string) => offers.find(id) };
    peers = await startPeerListener({ listen: { host: '127.0.0.1', port: 0 }, transfers });
    offers = new CountedOffers(`:${peers.port}`);
    const { files } = host;
    const lying: HostFiles = {
      find: (file) => files.find(file),
      receive: (...args) => files.receive(...args),
      locate: async (file) => {
        const lie = lies.shift();
        if (lie !== undefined) lies.push(lie);
        return lie ?? (await files.locate(file));
      },
    };
    far = await hostWorld(
      { ...host, files: lying, superviseMachines: async () => [] },
      { authority, offers },
    );
  });
  after(async () => {
    await world.close();
    await Promise.all([far.close(), peers.close(), ...others.map((other) => other.close())]);
    await rm(folder, { recursive: true, force: true });
  });

  const others: HostWorld[] = [];
  /** Adds a host to the region. Its files wait for the gate. */
  async function addHost(name: string, gate: Promise<void>): Promise<QemuCompute> {
    const dir = join(folder, name);
    const netns = 'skerry-test-nowhere';
    const log = createLogger('silent');
    const driver = openQemuCompute({ dir, hosts: [name], accelerator: 'tcg', netns, log });
    const { files } = driver;
    const gated: HostFiles = {
      find: (file) => files.find(file),
      locate: (file) => files.locate(file),
      receive: async (...args) => {
        await gate;
        await files.receive(...args);
      },
    };
    const { service } = world.opened;
    const { authority } = await ensureControlPlane(service);
    const other = await hostWorld(
      { ...driver, files: gated, superviseMachines: async () => [] },
      { authority },
    );
    others.push(other);
    await invite(name, other);
    return driver;
  }
  async function invite(name: string, { server, backend, stored }: HostWorld): Promise<void> {
    const certificate = describeCertificate(backend.identity ?? '', stored.identity.certificate);
    const invited = { name, regionId: 'par', address: `127.0.0.1:${server.port}`, ...SIZE };
    await addInvitedHost(world.opened.service, invited, certificate);
  }
  /** Whether the host was sent the two disks and the rescue disk. */
  async function hasAll(name: string): Promise<boolean> {
    const row = await world.opened.db.row<{ files: bigint }>(
      'select count(ready_at) as files from backend_files where backend = $1',
      [name],
    );
    return Number(row?.files) === 3;
  }
  const shas = async ({ images }: QemuCompute) => new Set((await images.list()).map(({ sha256 }) => sha256));

  async function eventually(reached: () => Promise<boolean>): Promise<void> {
    for (const until = Date.now() + WAIT_MAX_MS; !(await reached()); await pause(20))
      assert.ok(Date.now() < until, 'the condition was not met in time');
  }
  /** Creates a bootable disk of random bytes. */
  async function disk(name: string): Promise<string> {
    const content = randomBytes(2 * MIB);
    content.set([0x55, 0xaa], 510);
    await writeFile(join(folder, name), content);
    return join(folder, name);
  }
  const importDisk = async (name: string, image: string | null) =>
    await importBaseImage(world.opened.service, {
      path: await disk(name),
      sha256: null,
      image,
      rescue: image === null,
    });
  async function listed(): Promise<string> {
    const lines: string[] = [];
    const out = (line: string) => void lines.push(line);
    const { service, db } = world.opened;
    const resources = {
      settings: () => [],
      database: async () => db,
      service: async () => ({
        service,
        register: async () => undefined,
        carryOut: async () => undefined,
        coins: null,
      }),
    };
    assert.equal(
      await runOperator(['images', 'list'], resources, undefined, { out, err: out, ask: null }),
      0,
    );
    return lines.join('\n');
  }

  it('a host that joins receives the imported disks and the rescue disk', async () => {
    const { disk: debian } = await importDisk('debian', 'debian-12');
    const { disk: rescue } = await importDisk('rescue', null);
    await invite('far', far);
    await eventually(async () => (await readDistribution(world.opened.service)).counts.size === 2);
    await eventually(async () => (await readDistribution(world.opened.service)).unfinished.length === 0);
    assert.deepEqual(
      new Set((await host.images.list()).map(({ sha256 }) => sha256)),
      new Set([debian.sha256, rescue.sha256]),
    );
    assert.deepEqual(await host.images.rescue(), rescue);
    assert.match(await listed(), /^debian-12 .* 1\/1/m);
  });

  it('a disk that is imported later follows, and replaces the rescue disk', async () => {
    const { disk: rescue } = await importDisk('rescue-2', null);
    await eventually(async () => (await host.images.rescue())?.sha256 === rescue.sha256);
  });

  it("a server that needs a customer's image waits until its host has it", async () => {
    const { service } = world.opened;
    const content = randomBytes(2 * MIB);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const key = newId(new Date());
    const writer = await service.blobs.createWriter(key, content.length);
    await writer.write(content);
    await writer.finish();
    await world.opened.db.run(
      `insert into images (id, name, version, arch, size_gb, released_at, customer_id, sha256, size_bytes,
                           blob_key, type, family, cloud_init)
       select $1, 'own', '1', '{amd64}', 0.01, '2026-01-01', id, $2, $3, $1, 'custom', 'custom', false
         from customers limit 1`,
      [key, sha256, content.length],
    );
    const image = {
      ...machineSpec({ id: 'x', host: 'far' }).image,
      iso: { path: service.blobs.path(key), sha256 },
    };
    const spec = machineSpec({ id: '00000000-0000-4000-8000-000000000001', host: 'far', image });
    await assert.rejects(service.compute.ensure(spec), { fault: 'waiting' });
    await eventually(async () => {
      const { state } = await host.files.find({
        kind: 'iso',
        sha256,
        sizeBytes: content.length,
        image: null,
      });
      return state === 'ready';
    });
    assert.ok((await readFile(join(folder, 'far', 'iso', `${sha256}.iso`))).equals(content));
    await eventually(async () => (await readDistribution(service)).unfinished.length === 0);
    // This host has no network for the machine, but it has the image.
    const failure = await service.compute.ensure(spec).catch((error: unknown) => error);
    assert.notEqual((failure as { fault?: string }).fault, 'waiting');
  });

  it('an image that this machine does not have either is refused', async () => {
    const { service } = world.opened;
    const image = { ...machineSpec({ id: 'x', host: 'far' }).image, base: 'ab'.repeat(32) };
    const spec = machineSpec({ id: '00000000-0000-4000-8000-000000000002', host: 'far', image });
    await eventually(async () => {
      const failure = await service.compute.ensure(spec).catch((error: unknown) => error);
      return (failure as { fault?: string }).fault === 'refused';
    });
  });

  it('a transfer that keeps failing is shown, and continues when the host is back', async () => {
    await far.server.close();
    const { disk: alpine } = await importDisk('alpine', 'alpine');
    const isTold = async () =>
      (await readStatus(world.opened.service)).some(
        ({ level, message }) => level === 'warn' && /^alpine-\S+ does not reach host far: /.test(message),
      );
    await eventually(isTold);
    assert.match(await listed(), /^alpine-\S+ to far: .*attempts failed/m);
    await far.restart();
    await eventually(async () => (await host.images.list()).some(({ sha256 }) => sha256 === alpine.sha256));
    await eventually(async () => !(await isTold()));
  });

  it('another host of the region fetches the disks from the first one', async () => {
    const gate = Promise.withResolvers<void>();
    const next = await addHost('next', gate.promise);
    await eventually(async () => / to next: \d+\/\d+ MB from far$/m.test(await listed()));
    gate.resolve();
    await eventually(() => hasAll('next'));
    const wanted = await shas(host);
    for (const sha256 of await shas(next)) assert.ok(wanted.has(sha256));
    assert.deepEqual(await next.images.rescue(), await host.images.rescue());
    assert.ok(offers.opened >= 3, `${offers.opened} of 3 files came from the first host`);
  });

  it('a host that sends other bytes is reported, and the service sends the file itself', async () => {
    const { service } = world.opened;
    // Longer than the disks, and ending before them.
    lies = [4 * MIB, MIB].map((bytes) => join(folder, `lie-${bytes}`));
    for (const [index, bytes] of [4 * MIB, MIB].entries())
      await writeFile(lies[index] ?? '', randomBytes(bytes));
    await addHost('third', Promise.resolve());
    await eventually(() => hasAll('third'));
    const { damaged } = await readDistribution(service);
    assert.deepEqual(new Set(damaged.map(({ host }) => host)), new Set(['far']));
    const told = (await readStatus(service)).map(({ message }) => message);
    assert.ok(told.some((message) => /^host far sent a damaged copy of /.test(message)));
  });
});

import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { after, before, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { passFile } from '../../../../src/drivers/compute/composed/files.ts';
import { BackendRegistry } from '../../../../src/drivers/compute/composed/registry.ts';
import { FileOffers } from '../../../../src/drivers/compute/host/file-offers.ts';
import { openPeerStream } from '../../../../src/drivers/compute/host/peer.ts';
import { type PeerListener, startPeerListener } from '../../../../src/drivers/compute/host/peer-listener.ts';
import { openQemuCompute, type QemuCompute } from '../../../../src/drivers/compute/qemu/driver.ts';
import { createLogger } from '../../../../src/kernel/logger.ts';
import { DamagedFile } from '../../../../src/ports/compute.ts';
import type { FileToSend, HostFile } from '../../../../src/ports/host-files.ts';
import { seededRuns } from '../../../support/seed.ts';
import { failsAs } from '../compute-world.ts';
import { type HostWorld, hostWorld } from './host-world.ts';
import { createSource, type SourceOnDisk } from './source-on-disk.ts';

const MIB = 1024 ** 2;
const SIZE = 6 * MIB;
const IDLE_MS = 250;
const log = createLogger('silent');

describe('files that one host fetches from another', () => {
  let folder: string;
  let sourceDriver: QemuCompute;
  let targetDriver: QemuCompute;
  let offers: FileOffers;
  let listener: PeerListener;
  let source: HostWorld;
  let target: HostWorld;
  let registry: BackendRegistry;
  /** Path of the file that the source sends in place of its own; null: its own. */
  let lie: ((file: HostFile) => string) | null;
  const port = () => listener.port;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-between-'));
    const open = (name: string) =>
      openQemuCompute({ dir: join(folder, name), hosts: [name], accelerator: 'tcg', netns: null, log });
    sourceDriver = open('near');
    targetDriver = open('far');
    listener = await listen(0);
    offers = new FileOffers(`:${listener.port}`);
    const { files } = sourceDriver;
    const lying = {
      find: (file: HostFile) => files.find(file),
      locate: async (file: HostFile) => lie?.(file) ?? (await files.locate(file)),
      receive: (...args: Parameters<typeof files.receive>) => files.receive(...args),
    };
    source = await hostWorld({ ...sourceDriver, files: lying }, { offers });
    target = await hostWorld(targetDriver);
    registry = registryOf(target);
  });
  beforeEach(() => {
    lie = null;
  });
  after(async () => {
    registry.close();
    await Promise.all([source.close(), target.close(), listener.close()]);
    await rm(folder, { recursive: true, force: true });
  });

  const listen = (on: number) =>
    startPeerListener({
      listen: { host: '127.0.0.1', port: on },
      transfers: { find: (id) => offers.find(id) },
    });

  /** The control plane's view of both hosts. */
  function registryOf(to: HostWorld): BackendRegistry {
    return new BackendRegistry({
      directory: {
        list: async () => [
          { ...source.backend, name: 'near' },
          { ...to.backend, name: 'far' },
        ],
      },
      open: ({ name }) => (name === 'near' ? source : to).connect(),
      log,
    });
  }

  /** Creates an ISO image that the source has. */
  async function newIso(sizeBytes = SIZE): Promise<SourceOnDisk> {
    const path = join(folder, `iso-${randomBytes(4).toString('hex')}`);
    const sent = await createSource(path, sizeBytes);
    await source.driver.putFile(sent);
    return sent;
  }
  const pass = (file: FileToSend, to = registry) => passFile(to, file, { from: 'near', to: 'far' });
  const newTransfer = () => ({ id: randomUUID(), key: randomBytes(32) });
  const arrived = (file: HostFile) => join(folder, 'far', 'iso', `${file.sha256}.iso`);

  async function isThere({ file, path }: SourceOnDisk): Promise<void> {
    assert.ok((await readFile(arrived(file))).equals(await readFile(path)));
    assert.equal((await targetDriver.files.find(file)).state, 'ready');
  }
  async function ended(file: HostFile): Promise<number> {
    for (;;) {
      const { state, bytes } = await targetDriver.files.find(file);
      if (state !== 'receiving') return bytes;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  async function untilConnected(work: () => Promise<void>): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (attempt > 1_000 || !/not responding|receiving/.test(String(error))) throw error;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it('a file goes from host to host with its progress, and the control plane sends none of it', async () => {
    const sent = await newIso();
    const told: number[] = [];
    const read = () => assert.fail('the control plane read it');
    await pass({ ...sent, read, onProgress: (bytes) => told.push(bytes) });
    await isThere(sent);
    assert.equal(told[0], 0);
    await pass({ ...sent, onProgress: (bytes) => assert.equal(bytes, SIZE) });
  });

  it('a transfer that is cut anywhere keeps its bytes, and the control plane sends the rest', async (t) => {
    const cuts = fc.record({
      at: fc.integer({ min: 0, max: SIZE }),
      how: fc.constantFrom('connection', 'source', 'target', 'control plane'),
    });
    const property = fc.asyncProperty(cuts, async ({ at, how }) => {
      const sent = await newIso();
      await passUntil(sent, at, how);
      const kept = await ended(sent.file);
      let from = Number.NaN;
      const onProgress = (bytes: number) => {
        from = Number.isNaN(from) ? bytes : from;
      };
      await untilConnected(() => target.connect().putFile({ ...sent, onProgress }));
      if (kept < SIZE) assert.equal(from, kept);
      await isThere(sent);
    });
    await fc.assert(property, seededRuns(t, 8));
  });

  /** Passes the file until the target has this many bytes, and then ends a part of the transfer. */
  async function passUntil(sent: FileToSend, at: number, how: string): Promise<void> {
    const abort = new AbortController();
    const links = registryOf(target);
    const passing = pass({ ...sent, signal: abort.signal }, links).catch(() => undefined);
    for (let isOver = false; !isOver && (await targetDriver.files.find(sent.file)).bytes < at; ) {
      const settled = passing.then(() => true);
      isOver = await Promise.race([settled, new Promise<false>((go) => setImmediate(go, false))]);
    }
    if (how === 'control plane') abort.abort();
    else if (how === 'target') await target.restart();
    else {
      const before = port();
      await listener.close();
      if (how === 'source') await source.restart();
      listener = await listen(before);
    }
    await passing;
    links.close();
  }

  it('other bytes are refused and told, and the file still arrives from the control plane', async () => {
    const contents = [randomBytes(SIZE), randomBytes(SIZE + 9), randomBytes(SIZE + 4 * MIB)];
    for (const content of contents) {
      const sent = await newIso();
      const other = join(folder, 'other');
      await writeFile(other, content);
      lie = () => other;
      await assert.rejects(pass(sent), DamagedFile);
      assert.deepEqual(await targetDriver.files.find(sent.file), { state: 'absent', bytes: 0 });
      await assert.rejects(stat(arrived(sent.file)));
      await target.driver.putFile(sent);
      await isThere(sent);
    }
  });

  it('bytes from a source that ends early stay, and a source without the file sends nothing', async () => {
    const sent = await newIso();
    const part = join(folder, 'part');
    await writeFile(part, (await readFile(sent.path)).subarray(0, MIB));
    lie = () => part;
    await failsAs('transient', pass(sent));
    assert.deepEqual(await targetDriver.files.find(sent.file), { state: 'partial', bytes: MIB });
    lie = null;
    await rm(join(folder, 'near', 'iso', `${sent.file.sha256}.iso`));
    await failsAs('transient', pass(sent));
    await target.driver.putFile(sent);
    await isThere(sent);
  });

  /** Listens for other hosts, and sends 100 bytes of each file: once, or again and again. */
  async function listenSlowly(everyMs: number | null): Promise<PeerListener> {
    const drip = (_: string, stream: Duplex) => {
      stream.write(Buffer.alloc(100));
      if (everyMs === null) return;
      const timer = setInterval(() => stream.write(Buffer.alloc(100)), everyMs);
      stream.once('close', () => clearInterval(timer));
    };
    const find = (id: string) => {
      const offer = offers.find(id);
      return offer && { id, key: offer.key, open: drip };
    };
    return await startPeerListener({ listen: { host: '127.0.0.1', port: 0 }, transfers: { find } });
  }

  it('a source that stops, or sends next to nothing, holds nothing', async (t) => {
    const impatient = await hostWorld(targetDriver, { fileIdleMs: IDLE_MS });
    t.after(() => impatient.close());
    for (const everyMs of [null, 20]) {
      const sent = await newIso();
      const slow = await listenSlowly(everyMs);
      const transfer = newTransfer();
      const offer = await source.driver.offerFile(sent.file, transfer);
      const from = { ...transfer, address: `127.0.0.1:${slow.port}` };
      await failsAs('transient', impatient.driver.fetchFile(sent, from));
      assert.equal((await targetDriver.files.find(sent.file)).state, 'partial');
      offer.end();
      await slow.close();
    }
  });

  it('an offer lasts as long as the request, and a host makes only two at once', async () => {
    const { file } = await newIso();
    const transfers = [1, 2, 3].map(() => newTransfer());
    const [one = assert.fail(), two = assert.fail(), three = assert.fail()] = transfers;
    const offer = await source.driver.offerFile(file, one);
    await source.driver.offerFile(file, two);
    await failsAs('transient', source.driver.offerFile(file, three));
    offer.end();
    const address = `127.0.0.1:${port()}`;
    while (offers.find(one.id) !== undefined) await new Promise((resolve) => setImmediate(resolve));
    await failsAs('transient', openPeerStream(address, one, 'from-0'));
    await failsAs('transient', openPeerStream(address, { ...two, key: one.key }, 'from-0'));
    await (await source.driver.offerFile(file, three)).end();
  });

  it('a late call to fetch is refused, and an older host has its files from the control plane', async (t) => {
    const sent = await newIso();
    const early = await target.nextCall();
    await target.driver.list();
    await target.connect().putFile(sent);
    const delayed = target.connect({ nextCall: async () => early });
    const transfer = newTransfer();
    const from = { ...transfer, address: `127.0.0.1:${port()}` };
    await failsAs('transient', delayed.fetchFile(sent, from));
    const older = await hostWorld(targetDriver, { versions: [1, 2] });
    t.after(() => older.close());
    const links = registryOf(older);
    t.after(() => links.close());
    const other = await newIso();
    await failsAs('transient', pass(other, links));
    await older.driver.putFile(other);
    await isThere(other);
  });
});

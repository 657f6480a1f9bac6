import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect as connectTls } from 'node:tls';
import fc from 'fast-check';
import { encodeFileHeader } from '../../../../src/drivers/compute/host/files.ts';
import { run } from '../../../../src/drivers/compute/qemu/command.ts';
import { openQemuCompute, type QemuCompute } from '../../../../src/drivers/compute/qemu/driver.ts';
import { QemuHost } from '../../../../src/drivers/compute/qemu/host.ts';
import { QemuImages } from '../../../../src/drivers/compute/qemu/images/images.ts';
import { ReceivedFiles } from '../../../../src/drivers/compute/qemu/images/received-files.ts';
import { readFrom } from '../../../../src/kernel/files.ts';
import { createLogger } from '../../../../src/kernel/logger.ts';
import { DAY_MS } from '../../../../src/kernel/time.ts';
import type { FileToSend, HostFile } from '../../../../src/ports/host-files.ts';
import { findProgram, skipUnlessInstalled } from '../../../support/installed-programs.ts';
import { seededRuns } from '../../../support/seed.ts';
import { failsAs } from '../compute-world.ts';
import { type HostWorld, hostWorld } from './host-world.ts';
import { createSource, type SourceOnDisk } from './source-on-disk.ts';

const MIB = 1024 ** 2;
const SIZE = 6 * MIB;
/** How far a sender may be ahead of the host. */
const AHEAD_MAX = 2 * MIB;

describe('files sent to a host', () => {
  let folder: string;
  let world: HostWorld;
  let driver: QemuCompute;
  let received = 0;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-files-'));
    driver = openQemuCompute(qemuOptions(join(folder, 'host')));
    const { files } = driver;
    const counting = {
      find: (file: HostFile) => files.find(file),
      locate: (file: HostFile) => files.locate(file),
      receive: (...args: Parameters<typeof files.receive>) => {
        received += 1;
        return files.receive(...args);
      },
    };
    world = await hostWorld({ ...driver, files: counting }, { fileIdleMs: 200 });
  });
  after(async () => {
    await world.close();
    await rm(folder, { recursive: true, force: true });
  });

  const qemuOptions = (dir: string) => ({
    dir,
    hosts: ['one'],
    accelerator: 'tcg' as const,
    netns: null,
    log: createLogger('silent'),
  });
  const incoming = (sha256: string) => join(folder, 'host', 'incoming', sha256);

  /** Creates an ISO image of random bytes. */
  async function newIso(sizeBytes = SIZE): Promise<SourceOnDisk> {
    return await createSource(join(folder, `source-${randomBytes(4).toString('hex')}`), sizeBytes);
  }
  async function isThere({ file, path }: SourceOnDisk): Promise<void> {
    const got = await readFile(join(folder, 'host', 'iso', `${file.sha256}.iso`));
    assert.ok(got.equals(await readFile(path)));
    assert.deepEqual((await driver.files.find(file)).state, 'ready');
    await assert.rejects(stat(incoming(file.sha256)));
  }
  /** Waits until the host has noticed that a transfer ended. */
  async function ended(file: HostFile): Promise<number> {
    for (;;) {
      const { state, bytes } = await driver.files.find(file);
      if (state !== 'receiving') return bytes;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it('a file arrives once, and is not sent again', async () => {
    const sent = await newIso();
    received = 0;
    await world.driver.putFile(sent);
    await isThere(sent);
    await world.driver.putFile({ ...sent, onProgress: () => assert.fail('it was sent again') });
    assert.equal(received, 1);
  });

  it('a transfer that is cut continues where the host stopped', async (t) => {
    const cuts = fc.array(
      fc.record({
        at: fc.integer({ min: 1, max: SIZE }),
        how: fc.constantFrom('abort', 'killed', 'restart'),
      }),
      { minLength: 1, maxLength: 4 },
    );
    const property = fc.asyncProperty(cuts, async (planned) => {
      const sent = await newIso();
      for (const { at, how } of planned) await sendUntil(sent, at, how);
      let from = Number.NaN;
      const has = await ended(sent.file);
      await untilConnected(async () => {
        const onProgress = (bytes: number) => {
          from = Number.isNaN(from) ? bytes : from;
        };
        await world.connect().putFile({ ...sent, onProgress });
      });
      const furthest = Math.max(...planned.map(({ at }) => at));
      if (has < SIZE) assert.equal(from, has);
      assert.ok(has >= furthest - AHEAD_MAX, `${has} of ${furthest} bytes were kept`);
      await isThere(sent);
    });
    await fc.assert(property, seededRuns(t, 8));
  });

  /** Sends until this many bytes are on their way, then ends the call, its process, or the host's. */
  async function sendUntil(sent: FileToSend, at: number, how: 'abort' | 'killed' | 'restart'): Promise<void> {
    const remote = world.connect();
    const abort = new AbortController();
    let restarted: Promise<void> | null = null;
    const onProgress = (bytes: number) => {
      if (bytes < at || restarted !== null) return;
      if (how === 'abort') abort.abort();
      else if (how === 'killed') remote.close();
      restarted = how === 'restart' ? world.restart() : Promise.resolve();
    };
    await remote.putFile({ ...sent, signal: abort.signal, onProgress }).catch(() => undefined);
    await restarted;
    await ended(sent.file);
  }

  it('a file that arrived before its host was killed is checked, and not sent again', async () => {
    const sent = await newIso(MIB);
    await writeFile(incoming(sent.file.sha256), await readFile(sent.path));
    await world.driver.putFile({ ...sent, onProgress: (bytes) => assert.equal(bytes, MIB) });
    await isThere(sent);
  });

  it('of two callers at once, one sends the file and the other learns that it is on its way', async () => {
    const sent = await newIso();
    received = 0;
    const outcomes = await Promise.allSettled(
      [world.driver, world.connect()].map((each) => each.putFile(sent)),
    );
    assert.ok(outcomes.some(({ status }) => status === 'fulfilled'));
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') assert.match(String(outcome.reason), /receiving this file already/);
    await isThere(sent);
    await world.connect().putFile(sent);
  });

  it('a file with another checksum is thrown away, and told', async () => {
    const sent = await newIso();
    const other = { ...sent, file: { ...sent.file, sha256: 'ab'.repeat(32) } };
    await failsAs('refused', world.driver.putFile(other));
    assert.deepEqual(await driver.files.find(other.file), { state: 'absent', bytes: 0 });
    // The bytes of an earlier transfer were damaged on the disk.
    await sendUntil(sent, SIZE / 2, 'abort');
    const partial = incoming(sent.file.sha256);
    await writeFile(partial, Buffer.alloc((await stat(partial)).size));
    await failsAs('refused', world.connect().putFile(sent));
    await world.connect().putFile(sent);
    await isThere(sent);
  });

  /** Sends a request as a program would that is not ours. Returns its answer, or null without one. */
  async function sendRaw(
    file: HostFile,
    { offset = 0, call, chunks, ends }: { offset?: number; call?: number; chunks: Buffer[]; ends: boolean },
  ): Promise<string | null> {
    const { certificate: cert, key } = world.credentials.issued;
    const port = { host: '127.0.0.1', port: world.server.port };
    const socket = connectTls({ ...port, cert, key, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
    const session = connect('https://host', { createConnection: () => socket });
    const header = encodeFileHeader({ call: call ?? (await world.nextCall()), file, offset });
    const stream = session.request(
      { ':method': 'POST', ':path': `/v1/file/${header}` },
      { endStream: false },
    );
    stream.on('error', () => undefined);
    let answer = '';
    stream.setEncoding('utf8').on('data', (text) => {
      answer += text;
    });
    for (const chunk of chunks) stream.write(chunk);
    if (ends) stream.end();
    await once(stream, 'close');
    session.destroy();
    return answer === '' ? null : answer;
  }

  it('a body that is longer than announced, too short, or without end holds nothing', async () => {
    const { file, path } = await newIso(MIB);
    const content = await readFile(path);
    await world.driver.list();
    assert.match(String(await sendRaw(file, { chunks: [content, Buffer.alloc(9)], ends: true })), /longer/);
    assert.equal((await driver.files.find(file)).state, 'absent');
    const half = content.subarray(0, MIB / 2);
    assert.match(String(await sendRaw(file, { chunks: [half], ends: true })), /ended early/);
    assert.match(String(await sendRaw(file, { offset: MIB / 2, chunks: [], ends: false })), /ended early/);
    assert.deepEqual(await driver.files.find(file), { state: 'partial', bytes: MIB / 2 });
    assert.match(String(await sendRaw(file, { offset: 1, chunks: [], ends: true })), /other bytes/);
    const rest = content.subarray(MIB / 2);
    assert.equal(await sendRaw(file, { offset: MIB / 2, chunks: [rest], ends: true }), '{}');
    assert.equal((await driver.files.find(file)).state, 'ready');
  });

  it('a late call is refused, and a header that names no file', async () => {
    const { file } = await newIso(MIB);
    const early = await world.nextCall();
    await sendRaw(file, { chunks: [], ends: true });
    assert.match(String(await sendRaw(file, { call: early, chunks: [], ends: true })), /"late"/);
    const wrong = [
      { ...file, sha256: '../../etc' },
      { ...file, kind: 'disk' as const },
    ];
    for (const each of wrong)
      assert.match(String(await sendRaw(each, { chunks: [], ends: true })), /not know/);
  });

  it('bytes that no one continues are deleted after a day', async () => {
    const sent = await newIso();
    const { sha256 } = sent.file;
    await sendUntil(sent, SIZE / 2, 'abort');
    const host = new QemuHost(qemuOptions(join(folder, 'host')));
    const files = new ReceivedFiles(host, new QemuImages(host));
    await files.deleteStale();
    assert.ok((await stat(incoming(sha256))).size > 0);
    const old = new Date(Date.now() - DAY_MS - 1_000);
    await utimes(incoming(sha256), old, old);
    await files.deleteStale(Date.now() + DAY_MS / 2);
    assert.ok(!(await readdir(join(folder, 'host', 'incoming'))).includes(sha256));
  });

  const skip = skipUnlessInstalled(findProgram(['qemu-img']), 'qemu-img is not installed');
  it('an imported disk becomes a disk and the rescue system of the host', { skip }, async () => {
    const { images } = openQemuCompute(qemuOptions(join(folder, 'control-plane')));
    const source = join(folder, 'debian.qcow2');
    await run('qemu-img', ['create', '-q', '-f', 'qcow2', source, '5G']);
    const image = await images.add(source, { sha256: null });
    const { path, sha256, sizeBytes } = (await images.stored(image.sha256)) ?? assert.fail();
    assert.equal((await images.stored(image.sha256))?.sha256, sha256);
    const toSend = { ...(await newIso()), read: (offset: number) => readFrom(path, offset) };
    const file = { kind: 'disk', sha256, sizeBytes, image } as const;
    await world.driver.putFile({ ...toSend, file });
    assert.deepEqual(await driver.images.list(), [image]);
    assert.equal(await driver.images.rescue(), null);
    await world.driver.putFile({ ...toSend, file: { ...file, kind: 'rescue' } });
    assert.deepEqual(await driver.images.rescue(), image);
    const text = await newIso(MIB);
    const other = { sha256: 'cd'.repeat(32), sizeBytes: MIB, diskGb: 1 };
    await failsAs(
      'refused',
      world.driver.putFile({ ...text, file: { ...text.file, kind: 'disk', image: other } }),
    );
    assert.deepEqual(await driver.images.list(), [image]);
  });

  const root = { skip: process.getuid?.() === 0 ? false : 'mounting a file system needs root' };
  it('a full disk is noticed before and during a transfer, and keeps nothing of it', root, async (t) => {
    const dir = join(folder, 'full');
    await run('mkdir', ['-p', dir]);
    await run('mount', ['-t', 'tmpfs', '-o', 'size=3G', 'tmpfs', dir]);
    t.after(() => run('umount', [dir]));
    const full = openQemuCompute(qemuOptions(dir));
    const host = await hostWorld(full);
    t.after(() => host.close());
    const sent = await newIso();
    const content = await readFile(sent.path);
    async function* withShrinkingDisk(): AsyncGenerator<Buffer> {
      yield content.subarray(0, MIB);
      await run('mount', ['-o', 'remount,size=3M', dir]);
      for (let at = MIB; at < SIZE; at += 65_536) yield content.subarray(at, at + 65_536);
    }
    await failsAs('host', full.files.receive(sent.file, 0, withShrinkingDisk()));
    assert.deepEqual(await readdir(join(dir, 'incoming')), []);
    await failsAs('host', host.driver.putFile(sent));
    assert.deepEqual(await readdir(join(dir, 'incoming')), []);
    await run('mount', ['-o', 'remount,size=3G', dir]);
    await host.driver.putFile(sent);
  });

  /** A host that restarts refuses connections for a moment. */
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
});

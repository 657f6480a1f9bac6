import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';
import { readDiskInfo } from '../../../../../src/drivers/compute/qemu/qcow2.ts';
import { hashFile } from '../../../../../src/kernel/files.ts';
import type { MachineSpec } from '../../../../../src/ports/compute.ts';
import type { DiskMove, MovedDisk, MoveEndpoint, MoveProgress } from '../../../../../src/ports/moves.ts';
import { failsAs } from '../../compute-world.ts';
import { type MoveWorld, moveWorld, type Side } from '../support/move-world.ts';
import { REAL_MACHINES } from '../support/qemu-world.ts';

const MARK = 'dd if=/dev/vdb bs=1M count=8 2>/dev/null | md5sum';

describe('moving a detached volume and a snapshot between two hosts', REAL_MACHINES, () => {
  let moving: MoveWorld;
  let spec: MachineSpec;
  let one: Side;
  let three: Side;
  let moves = 0;
  const volume = { id: 'lone-volume', sizeGb: 1, device: '/dev/vdb' };
  const snapshotId = 'lone-snapshot';
  /** Of the volume's content. */
  let sum: string;

  before(async () => {
    moving = await moveWorld();
    ({ one, three } = moving);
    spec = await moving.start('owner');
    await one.driver.attach(spec.id, volume);
    await moving.ssh(spec, 'dd if=/dev/urandom of=/dev/vdb bs=1M count=8 && sync');
    sum = await moving.ssh(spec, MARK);
    await moving.ssh(spec, 'echo in-the-snapshot >/data/mark && sync');
    await moving.world.eventually(
      async () => (await one.driver.snapshot(spec.id, snapshotId)).state === 'ready',
    );
    await one.driver.detach(volume.id);
  });
  after(async () => await moving?.close());

  function createMove(kind: 'volume' | 'snapshot', from: Side, to: Side): DiskMove {
    const disk = { kind, id: kind === 'volume' ? volume.id : snapshotId };
    return { id: `disk-move-${moves++}`, disk, from: from.name, to: to.name, key: randomBytes(32) };
  }

  async function contentOf(kind: 'volume' | 'snapshot', side: Side): Promise<MovedDisk> {
    if (kind === 'volume') return { sizeGb: volume.sizeGb, snapshot: null };
    const { sizeGb } = await side.driver.snapshot(spec.id, snapshotId);
    return { sizeGb, snapshot: { machineId: spec.id, generation: spec.generation, diskGb: spec.diskGb } };
  }

  const sideOf = (name: string) => (name === one.name ? one : three);

  /** Every call is repeated. */
  async function send(move: DiskMove, disk: MovedDisk): Promise<MoveProgress> {
    await sideOf(move.to).driver.moves.receiveDisk(move, disk);
    return await sendTo(move, await sideOf(move.to).driver.moves.receiveDisk(move, disk));
  }

  async function sendTo(move: DiskMove, endpoint: MoveEndpoint): Promise<MoveProgress> {
    for (;;) {
      const progress = await sideOf(move.from).driver.moves.send(move, endpoint);
      if (progress.state !== 'copying') return progress;
    }
  }

  async function complete(kind: 'volume' | 'snapshot', from: Side, to: Side): Promise<void> {
    const move = createMove(kind, from, to);
    const progress = await send(move, await contentOf(kind, from));
    assert.equal(progress.state, 'sent', progress.message ?? '');
    // The commit is here.
    for (const _ of ['once', 'again']) await to.driver.moves.takeOver(move);
    for (const _ of ['once', 'again']) await from.driver.moves.forget(move, 'from');
  }

  async function abandon(move: DiskMove): Promise<void> {
    for (const _ of ['once', 'again']) await sideOf(move.from).driver.moves.keep(move);
    for (const _ of ['once', 'again']) await sideOf(move.to).driver.moves.forget(move, 'to');
  }

  /** Files of moves that a host has. */
  async function leftovers(side: Side): Promise<string[]> {
    return await readdir(side.host.layout.moves()).catch(() => []);
  }

  const volumeFile = (side: Side) => side.host.layout.volume(volume.id, 'qcow2');
  const snapshotFile = (side: Side) => side.host.layout.snapshot(snapshotId, 'qcow2');

  it('a host refuses to send an attached volume, and to receive a second copy', async () => {
    await one.driver.attach(spec.id, volume);
    const attached = createMove('volume', one, three);
    await failsAs('refused', send(attached, await contentOf('volume', one)));
    await abandon(attached);
    await one.driver.detach(volume.id);
    const absent = createMove('volume', three, one);
    const disk = await contentOf('volume', three);
    await failsAs('host', one.driver.moves.receiveDisk(absent, disk));
    assert.deepEqual(await leftovers(three), []);
  });

  it('a volume that its source keeps is unchanged, and is attached again', async () => {
    const before = await hashFile(volumeFile(one));
    const move = createMove('volume', one, three);
    assert.equal((await send(move, await contentOf('volume', one))).state, 'sent');
    // Another host may have it.
    await failsAs('transient', one.driver.attach(spec.id, volume));
    await failsAs('transient', one.driver.grow(volume.id, 2));
    await failsAs('transient', one.driver.removeVolume(volume.id));
    assert.equal(existsSync(volumeFile(three)), false, 'the copy has the name of the volume');
    await abandon(move);
    assert.deepEqual([await leftovers(one), await leftovers(three)], [[], []]);
    assert.equal(await hashFile(volumeFile(one)), before);
    await failsAs('refused', three.driver.moves.takeOver(move));
    await failsAs('refused', one.driver.moves.forget(createMove('volume', one, three), 'from'));
    await one.driver.attach(spec.id, volume);
    assert.equal(await moving.ssh(spec, MARK), sum);
    await one.driver.detach(volume.id);
  });

  it('a copy with other bytes is not used, and the next one is whole', async () => {
    const move = createMove('volume', one, three);
    const disk = await contentOf('volume', one);
    // Less than the file has.
    const small = createMove('volume', one, three);
    const refused = await send(small, { ...disk, sizeGb: 0.000_001 });
    assert.deepEqual([refused.state, refused.message], ['failed', 'the copy is not that which is expected']);
    await abandon(small);
    const foreign = { ...move, key: randomBytes(32) };
    const endpoint = await three.driver.moves.receiveDisk(move, disk);
    assert.equal((await sendTo(foreign, endpoint)).state, 'failed');
    await abandon(move);
    // A guest that took over its QEMU wrote a reference to a file of the host into its volume.
    const secret = join(one.host.options.dir, 'secret');
    const kept = `${volumeFile(one)}.kept`;
    await writeFile(secret, 'secret');
    await rename(volumeFile(one), kept);
    await run('qemu-img', [
      'create',
      '-q',
      '-u',
      '-f',
      'qcow2',
      '-b',
      secret,
      '-F',
      'raw',
      volumeFile(one),
      '1G',
    ]);
    const bad = createMove('volume', one, three);
    assert.equal((await send(bad, disk)).state, 'failed');
    await abandon(bad);
    await rm(secret);
    await rename(kept, volumeFile(one));
    assert.deepEqual(await leftovers(three), []);
  });

  it('a volume arrives with its content, and is attached to a machine there', async () => {
    const before = await hashFile(volumeFile(one));
    await complete('volume', one, three);
    assert.equal(await hashFile(volumeFile(three)), before);
    assert.equal(existsSync(volumeFile(one)), false);
    assert.equal(existsSync(one.host.layout.volume(volume.id, 'json')), false);
    assert.deepEqual([await leftovers(one), await leftovers(three)], [[], []]);
    const progress = await moving.move(spec, one, three);
    assert.equal(progress.state, 'sent', progress.message ?? '');
    await three.driver.attach(spec.id, volume);
    assert.equal(await moving.ssh(spec, MARK), sum);
    await three.driver.detach(volume.id);
  });

  it('a snapshot arrives as an overlay of the image there, and a machine is restored from it', async () => {
    await complete('snapshot', one, three);
    assert.equal(existsSync(snapshotFile(one)), false);
    const { backing } = await readDiskInfo(three.host, snapshotFile(three));
    assert.equal(backing, three.host.layout.image(String(spec.image.base)));
    assert.equal((await three.driver.snapshot(spec.id, snapshotId)).state, 'ready');
    await moving.ssh(spec, 'rm /data/mark && sync');
    await moving.world.eventually(async () => {
      await three.driver
        .restore({ ...spec, host: three.name, generation: 2 }, snapshotId)
        .catch(() => undefined);
      return (await three.driver.observe([spec.id]))[0]?.generation === 2;
    });
    await moving.world.eventually(
      async () => (await moving.ssh(spec, 'cat /data/mark').catch(() => '')).trim() === 'in-the-snapshot',
    );
  });

  it('a snapshot arrives whole at a host without the image, with the same content', async () => {
    const image = one.host.layout.image(String(spec.image.base));
    const hidden = `${image}.hidden`;
    const former = `${snapshotFile(three)}.former`;
    await link(snapshotFile(three), former);
    await rename(image, hidden);
    try {
      await complete('snapshot', three, one);
    } finally {
      await rename(hidden, image);
    }
    assert.equal((await readDiskInfo(one.host, snapshotFile(one))).backing, null);
    await run('qemu-img', ['compare', '-f', 'qcow2', '-F', 'qcow2', former, snapshotFile(one)]);
    await rm(former);
    assert.deepEqual([await leftovers(one), await leftovers(three)], [[], []]);
    await one.driver.removeSnapshot(snapshotId);
    assert.equal(existsSync(snapshotFile(one)), false);
  });

  it('a part that an earlier attempt left is replaced', async () => {
    const move = createMove('volume', three, one);
    const path = volumeFile(three);
    const disk = await contentOf('volume', three);
    const endpoint = await one.driver.moves.receiveDisk(move, disk);
    await writeFile(one.host.layout.movedDisk(move.id, 'part'), 'other bytes');
    const progress = await sendTo(move, endpoint);
    assert.equal(progress.state, 'sent', progress.message ?? '');
    assert.equal(await hashFile(one.host.layout.movedDisk(move.id, 'qcow2')), await hashFile(path));
    await abandon(move);
  });
});

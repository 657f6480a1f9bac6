import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openQemuCompute } from '../../../../src/drivers/compute/qemu/driver.ts';
import { hashFile, readFrom } from '../../../../src/kernel/files.ts';
import { createLogger } from '../../../../src/kernel/logger.ts';
import { type MachineSpec, MissingFile } from '../../../../src/ports/compute.ts';
import type { FileToSend, HostFile } from '../../../../src/ports/host-files.ts';
import { machineSpec } from '../compute-world.ts';
import { type QemuWorld, qemuWorld, REAL_MACHINES } from '../qemu/support/qemu-world.ts';
import { type HostWorld, hostWorld } from './host-world.ts';

describe('images of real machines on another host', REAL_MACHINES, () => {
  let folder: string;
  let qemu: QemuWorld;
  let far: HostWorld;
  let spec: MachineSpec;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-far-'));
    qemu = await qemuWorld();
    far = await hostWorld(qemu.driver);
    spec = machineSpec({ id: 'far-1', host: 'one', ...qemu.machine });
    await rm(qemu.host.layout.images(), { recursive: true });
  });
  after(async () => {
    await far.close();
    await qemu.close();
    await rm(folder, { recursive: true, force: true });
  });

  const send = (file: HostFile, path: string) => {
    const toSend: FileToSend = {
      file,
      read: (offset) => readFrom(path, offset),
      signal: new AbortController().signal,
      onProgress: () => undefined,
    };
    return far.driver.putFile(toSend);
  };
  const stateOf = async () => (await far.driver.observe([spec.id]))[0]?.state;

  it('a guest is installed from a disk that its host did not have', async () => {
    const options = { dir: folder, hosts: ['here'], accelerator: 'tcg', netns: null } as const;
    const { images } = openQemuCompute({ ...options, log: createLogger('silent') });
    const image = await images.add(qemu.tiny.disk, { sha256: null });
    await assert.rejects(far.driver.ensure(spec), MissingFile);
    const { path, sha256, sizeBytes } = (await images.stored(image.sha256)) ?? assert.fail();
    await send({ kind: 'disk', sha256, sizeBytes, image }, path);
    await far.driver.ensure(spec);
    await qemu.eventually(async () => (await stateOf()) === 'running');
    assert.match(await qemu.sshWithRetry(spec.id, 'echo it runs'), /it runs/);
  });

  it("a customer's ISO boots on another host, which opens no other file for it", async () => {
    const { iso: path } = qemu.tiny;
    const sha256 = await hashFile(path);
    const image = { ...spec.image, iso: { path, sha256 }, base: null };
    const wanted = { ...spec, image, generation: 2 };
    await assert.rejects(far.driver.rebuild(wanted), MissingFile);
    const { size: sizeBytes } = await stat(path);
    await send({ kind: 'iso', sha256, sizeBytes, image: null }, path);
    await far.driver.rebuild(wanted);
    assert.equal(await stateOf(), 'running');
    // Only a booted guest reacts to the power button.
    await qemu.eventually(async () => {
      await far.driver.power(spec.id, 'acpi');
      return (await stateOf()) === 'stopped';
    });
  });
});

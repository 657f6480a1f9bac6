/** The content of snapshots. The contract covers the rest. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { volumeSerial } from '../../../../../src/drivers/compute/qemu/host.ts';
import { Qmp } from '../../../../../src/drivers/compute/qemu/qmp.ts';
import { copyInBackground } from '../../../../../src/drivers/compute/qemu/storage/background-copy.ts';
import { copySnapshot } from '../../../../../src/drivers/compute/qemu/storage/snapshots.ts';
import type { MachineSpec } from '../../../../../src/ports/compute.ts';
import { ContractFixture, failsAs } from '../../compute-world.ts';
import { type QemuWorld, qemuWorld, REAL_MACHINES } from '../support/qemu-world.ts';

describe('snapshots of real machines', REAL_MACHINES, () => {
  let world: QemuWorld;
  let bench: ContractFixture;
  let spec: MachineSpec;
  let generation = 1;
  let made = 0;
  before(async () => {
    world = await qemuWorld();
    bench = new ContractFixture();
    await bench.open(async () => world);
    spec = await bench.startMachine({ after: () => undefined });
  });
  after(() => world?.close());

  const fresh = () => `snap-${made++}`;
  const ssh = (command: string) => world.sshWithRetry(spec.id, command);
  const write = (file: string) => ssh(`echo ${file} >/data/${file} && sync`);
  const files = async () => (await ssh('ls /data')).trim().split('\n');
  const ready = (id: string) =>
    world.eventually(async () => {
      const { state } = await world.driver.snapshot(spec.id, id);
      assert.notEqual(state, 'failed');
      return state === 'ready';
    });
  /** Restores the snapshot and waits until the machine runs. */
  const restore = async (id: string) => {
    const wanted = { ...spec, generation: ++generation };
    await world.eventually(async () => {
      await world.driver.restore(wanted, id);
      return true;
    });
    await bench.waitForState(spec.id, 'running');
  };
  /** Returns leftover files of a snapshot. */
  const left = async (id: string) =>
    (await readdir(world.host.layout.snapshots())).filter((name) => name.startsWith(`${id}.`));
  const OFFSET_MIB = 100;
  const FILL_MIB = 64;
  /** Writes enough data behind the partitions that a snapshot takes a while. */
  const fill = (word: string) =>
    world.ssh(
      spec.id,
      `yes ${word} | dd of=/dev/vda bs=64k seek=${OFFSET_MIB * 16} count=${FILL_MIB * 16} ` +
        'iflag=fullblock conv=fsync 2>/dev/null',
      { timeoutMs: 90_000 },
    );
  /** Returns the word at the start of the last MiB of that data. */
  const filled = async () => {
    const at = (OFFSET_MIB + FILL_MIB - 1) * 16;
    return (
      await ssh(`dd if=/dev/vda bs=64k skip=${at} count=1 2>/dev/null | tr -s '\\n' ' ' | head -c 200`)
    ).split(' ')[1];
  };
  /** Slows the job down so much that it does not finish. */
  const hold = async (id: string) => {
    const qmp = (await Qmp.open(world.host.layout.runtimeFile(spec.id, 'qmp'))) ?? assert.fail('it is off');
    await qmp.execute('block-job-set-speed', { device: `snap-${volumeSerial(id)}`, speed: 1 });
    qmp.close();
  };

  it('a snapshot of a running guest has earlier writes and no later ones', async () => {
    const [id, next] = [fresh(), fresh()];
    await write('before');
    await fill('early');
    assert.equal((await world.driver.snapshot(spec.id, id)).state, 'creating');
    await write('after');
    assert.equal((await world.driver.snapshot(spec.id, next)).state, 'creating');
    await fill('late');
    await Promise.all([ready(id), ready(next)]);
    await restore(next);
    assert.ok((await files()).includes('after'));
    assert.equal(await filled(), 'early');
    // Two abandoned restores of the other snapshot: a complete copy, and a copy already in place.
    const { layout } = world.host;
    const givenUp = layout.diskCopy(spec.id, generation + 1, next);
    await copySnapshot(world.host, next, { machineId: spec.id, path: givenUp, diskGb: spec.diskGb });
    await copyFile(givenUp, layout.disk(spec.id, generation + 1));
    await restore(id);
    const copies = (await readdir(layout.machine(spec.id))).filter((name) => name.startsWith('copy-'));
    assert.deepEqual(copies, []);
    const kept = await files();
    assert.ok(kept.includes('before') && !kept.includes('after'), kept.join(' '));
    assert.equal(await filled(), 'early');
    for (const each of [id, next]) {
      await world.driver.removeSnapshot(each);
      assert.deepEqual(await left(each), []);
    }
  });

  it('a snapshot is completed after the service was killed, with the machine on or off', async () => {
    const [running, off] = [fresh(), fresh()];
    const options = JSON.stringify({ ...world.host.options, log: undefined });
    const source = (path: string) =>
      JSON.stringify(new URL(`../../../../../src/${path}`, import.meta.url).href);
    const script = `
      import { openQemuCompute } from ${source('drivers/compute/qemu/driver.ts')};
      import { createLogger } from ${source('kernel/logger.ts')};
      const driver = openQemuCompute({ ...${options}, log: createLogger('silent') });
      await driver.snapshot(${JSON.stringify(spec.id)}, process.argv[1]);
      process.kill(process.pid, 'SIGKILL');`;
    const killedIn = async (id: string) => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script, id], { stdio: 'ignore' });
      assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL']);
    };
    await write('running');
    await killedIn(running);
    await write('late');
    await ready(running);
    await world.driver.power(spec.id, 'off');
    await killedIn(off);
    await ready(off);
    await world.driver.power(spec.id, 'on');
    await restore(running);
    assert.ok(!(await files()).includes('late'));
    await restore(off);
    assert.ok((await files()).includes('late'));
    for (const id of [running, off]) await world.driver.removeSnapshot(id);
  });

  it('a snapshot of a stopped machine keeps its moment if the machine is powered on meanwhile', async () => {
    const id = fresh();
    await fill('then');
    await write('then');
    await world.driver.power(spec.id, 'off');
    assert.equal((await world.driver.snapshot(spec.id, id)).state, 'creating');
    await world.driver.power(spec.id, 'on');
    await write('since');
    await ready(id);
    await restore(id);
    const kept = await files();
    assert.ok(kept.includes('then') && !kept.includes('since'), kept.join(' '));
    await world.driver.removeSnapshot(id);
  });

  it('a snapshot fails if its machine is powered off, and a deleted one leaves nothing', async () => {
    const [failed, removed] = [fresh(), fresh()];
    await fill('again');
    await world.driver.snapshot(spec.id, failed);
    await hold(failed);
    await world.driver.power(spec.id, 'off');
    await world.driver.power(spec.id, 'on');
    assert.deepEqual(await world.driver.snapshot(spec.id, failed), { state: 'failed', sizeGb: 0 });
    await failsAs('refused', world.driver.restore({ ...spec, generation: generation + 1 }, failed));
    await world.driver.snapshot(spec.id, removed);
    await hold(removed);
    for (const id of [failed, removed]) {
      for (const _ of ['once', 'again']) await world.driver.removeSnapshot(id);
      assert.deepEqual(await left(id), []);
    }
  });

  it('a snapshot in rescue mode is of the machine’s own disk', async () => {
    const id = fresh();
    await write('own');
    await world.driver.rescue(spec.id, { passwordHash: '$6$salt$hash' });
    await ready(await world.driver.snapshot(spec.id, id).then(() => id));
    await world.driver.power(spec.id, 'reset');
    await restore(id);
    assert.ok((await files()).includes('own'));
    await world.driver.removeSnapshot(id);
  });

  it('a killed copy is started again', async () => {
    const [from, to] = ['from', 'to'].map((name) => join(world.host.options.dir, name)) as [string, string];
    await writeFile(from, randomBytes(256 * 1024 ** 2));
    const copy = { from, to, diskGb: null };
    assert.equal(await copyInBackground(world.host, copy, 0), 'copying');
    process.kill(-Number(await readFile(`${to}.copy`, 'utf8')), 'SIGKILL');
    await world.eventually(async () => (await copyInBackground(world.host, copy, 100)) === 'done');
    assert.equal((await stat(to)).size, 256 * 1024 ** 2);
  });
});

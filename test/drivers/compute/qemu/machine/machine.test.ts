/**
 * The QEMU driver beyond the contract: machines survive the service and are brought back to their desired
 * state.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';
import { readJson, writeJson } from '../../../../../src/drivers/compute/qemu/files.ts';
import { restartDelayS } from '../../../../../src/drivers/compute/qemu/machine/crashes.ts';
import { giveFile } from '../../../../../src/drivers/compute/qemu/machine/isolation.ts';
import { readCarriers } from '../../../../../src/drivers/compute/qemu/net/link.ts';
import { readRecord, writeRecord } from '../../../../../src/drivers/compute/qemu/record.ts';
import type { MachineSpec } from '../../../../../src/ports/compute.ts';
import { failsAs, machineSpec } from '../../compute-world.ts';
import { executeQmp, formatOutcomes, killWhenExists } from '../support/machine-helpers.ts';
import { type QemuWorld, qemuWorld, REAL_MACHINES } from '../support/qemu-world.ts';

const PASSWORD = 'of root, for once';

describe('machines of the QEMU driver', REAL_MACHINES, () => {
  let world: QemuWorld;
  let hash: string;
  let spec: MachineSpec;
  before(async () => {
    world = await qemuWorld();
    hash = (await run('openssl', ['passwd', '-6', '-stdin'], { input: `${PASSWORD}\n` })).trim();
    spec = specOf({ id: 'srv_one', rootPasswordHash: hash });
  });
  after(() => world.close());

  function specOf(wanted: Pick<MachineSpec, 'id'> & Partial<MachineSpec>): MachineSpec {
    return machineSpec({ host: world.hosts[0], ...world.machine, diskGb: 1, ...wanted });
  }
  function fileOf(id: string, name: string): string {
    return world.host.layout.machine(id, name);
  }
  async function stateOf(id: string): Promise<string> {
    const [seen] = await world.driver.observe([id]);
    return `${seen?.state}${seen?.rescue ? ', rescue' : ''}${seen?.crashed ? ', crashed' : ''}`;
  }
  async function until(id: string, state: string): Promise<void> {
    await world.eventually(async () => (await stateOf(id)) === state);
  }
  async function pidOf(id: string): Promise<number> {
    return Number(await readFile(world.host.layout.runtimeFile(id, 'pid'), 'utf8'));
  }
  async function crash(id: string): Promise<void> {
    const pid = await pidOf(id);
    process.kill(pid, 'SIGKILL');
    await world.eventually(async () => !existsSync(`/proc/${pid}/exe`));
  }
  /** User data cannot be passed as JSON. */
  function childSpec(): MachineSpec {
    return { ...spec, userData: null };
  }

  it('a creation killed at any step is finished by the next call', async () => {
    const { layout } = world.host;
    for (const file of [
      layout.disk(spec.id, 1),
      fileOf(spec.id, 'machine.json'),
      layout.runtimeFile(spec.id, 'qmp'),
    ]) {
      await killWhenExists(world, file, 'ensure', childSpec());
      assert.ok(existsSync(file), file);
    }
    await writeFile(fileOf(spec.id, 'machine.json.new'), '{"spec":{"id":');
    await world.driver.ensure(childSpec());
    await until(spec.id, 'running');
    assert.equal((await world.sshWithRetry(spec.id, 'hostname')).trim(), spec.hostname);
  });

  it('a finished install leaves no secret on the host', async () => {
    const files = (await readdir(fileOf(spec.id, '.'))).sort();
    assert.deepEqual(
      files.filter((name) => /disk|seed|new/.test(name)),
      ['disk-1.qcow2', 'seed-1.iso'],
    );
    for (const name of ['seed-1.iso', 'machine.json']) {
      const bytes = await readFile(fileOf(spec.id, name));
      assert.ok(!bytes.includes(hash) && !bytes.includes('ssh-ed25519'), name);
    }
    // The running guest's drive must contain the new CD as well.
    const seed = await readFile(fileOf(spec.id, 'seed-1.iso'));
    const read = 'cat /dev/sr0 >/dev/null 2>&1; sha256sum /dev/sr0; grep -c ssh-ed25519 /dev/sr0; true';
    const said = await world.ssh(spec.id, read);
    assert.match(said, /\n0\n$/, `${said} of ${seed.length} bytes`);
  });

  it('root can sign in by key over both address families, and by password', async () => {
    assert.equal((await world.ssh(spec.id, 'id -un', { family: 6 })).trim(), 'root');
    assert.equal((await world.ssh(spec.id, 'id -un', { password: PASSWORD })).trim(), 'root');
  });

  it('the console shows the guest’s screen', async () => {
    const filename = fileOf(spec.id, 'screen.ppm');
    await writeFile(filename, '');
    await giveFile(world.host, spec.id, filename);
    await executeQmp(world, spec.id, 'screendump', { filename });
    const pixels = (await readFile(filename)).subarray(15);
    const lit = pixels.filter((byte) => byte > 64).length;
    await rm(filename);
    assert.ok(lit > 500, `${lit} bytes are lit`);
  });

  it('a crashed machine is restarted with its disk, and the next restart waits longer', async () => {
    await world.ssh(spec.id, 'echo kept >/data/mark && sync');
    await crash(spec.id);
    assert.equal(await stateOf(spec.id), 'stopped, crashed');
    assert.deepEqual(formatOutcomes(await world.driver.superviseMachines()), [
      `${spec.id} restarted: its process had exited unexpectedly`,
    ]);
    assert.equal((await world.sshWithRetry(spec.id, 'cat /data/mark')).trim(), 'kept');
    await crash(spec.id);
    const crashes = fileOf(spec.id, 'crashes.json');
    await writeJson(crashes, { times: 3, at: new Date().toISOString() });
    const later = 'it keeps crashing or cannot be started; retrying later';
    assert.deepEqual(formatOutcomes(await world.driver.superviseMachines()), [`${spec.id} failed: ${later}`]);
    assert.equal(await stateOf(spec.id), 'stopped, crashed');
    await writeJson(crashes, { times: 3, at: new Date(Date.now() - 1000 * restartDelayS(3)).toISOString() });
    assert.equal((await world.driver.superviseMachines()).length, 1);
    assert.equal((await readJson<{ times: number }>(crashes))?.times, 4);
    await rm(crashes);
    await world.sshWithRetry(spec.id, 'true');
  });

  it('an unresponsive QEMU is left alone until it is powered off or reset, which kills it', async () => {
    const reason = 'QEMU does not respond; if that continues, a force restart starts it again';
    const silent = `${spec.id} failed: ${reason}`;
    const pid = await pidOf(spec.id);
    process.kill(pid, 'SIGSTOP');
    try {
      assert.equal(await stateOf(spec.id), 'running');
      const [mine, joined] = await Promise.all([
        world.driver.superviseMachines(),
        world.driver.superviseMachines(),
      ]);
      assert.deepEqual([formatOutcomes(mine), joined === mine], [[silent], true]);
      await world.driver.power(spec.id, 'acpi');
      assert.equal(await stateOf(spec.id), 'running');
      await failsAs('transient', world.driver.snapshot(spec.id, 'snap_silent'));
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    const boot = await world.sshWithRetry(spec.id, 'cat /data/mark; cat /proc/sys/kernel/random/boot_id');
    assert.deepEqual([await pidOf(spec.id), await world.driver.superviseMachines()], [pid, []]);
    await world.driver.removeSnapshot('snap_silent');
    process.kill(pid, 'SIGSTOP');
    await world.driver.power(spec.id, 'off');
    assert.ok(!existsSync(`/proc/${pid}/exe`));
    assert.equal(await stateOf(spec.id), 'stopped');
    await world.driver.power(spec.id, 'on');
    const after = await pidOf(spec.id);
    process.kill(after, 'SIGSTOP');
    await world.driver.power(spec.id, 'reset');
    assert.ok(!existsSync(`/proc/${after}/exe`));
    assert.notEqual(
      await world.sshWithRetry(spec.id, 'cat /data/mark; cat /proc/sys/kernel/random/boot_id'),
      boot,
    );
  });

  it('a machine whose sockets were deleted keeps running until it is reset', async () => {
    const pid = await pidOf(spec.id);
    await rm(world.host.layout.runDir, { recursive: true });
    assert.equal(await stateOf(spec.id), 'running');
    const lost = 'it runs, but its sockets below /run were deleted; a force restart starts it again';
    assert.deepEqual(formatOutcomes(await world.driver.superviseMachines()), [`${spec.id} failed: ${lost}`]);
    assert.equal((await world.ssh(spec.id, 'cat /data/mark')).trim(), 'kept');
    await failsAs('transient', world.driver.snapshot(spec.id, 'snap_lost'));
    await world.driver.power(spec.id, 'reset');
    assert.ok(!existsSync(`/proc/${pid}/exe`));
    await world.driver.removeSnapshot('snap_lost');
    assert.equal((await world.sshWithRetry(spec.id, 'cat /data/mark')).trim(), 'kept');
  });

  it('flushed rules and a deleted tap are restored while the guest keeps running', async () => {
    const boot = await world.ssh(spec.id, 'cat /proc/sys/kernel/random/boot_id');
    await world.net.runInRouter('nft', ['flush', 'ruleset']);
    await world.driver.superviseMachines();
    assert.ok((await world.net.runInRouter('nft', ['list', 'ruleset'])).includes(world.host.tap(spec.id)));
    assert.equal(await world.ssh(spec.id, 'cat /proc/sys/kernel/random/boot_id'), boot);
    const pid = await pidOf(spec.id);
    await world.net.runInRouter('ip', ['link', 'delete', 'dev', world.host.tap(spec.id)]);
    assert.equal((await world.driver.superviseMachines()).length, 1);
    const tap = world.host.tap(spec.id);
    await world.eventually(async () => (await readCarriers(world.host)).get(tap) === true);
    assert.deepEqual([await pidOf(spec.id), await world.driver.superviseMachines()], [pid, []]);
  });

  it('a rescue accepts its password and has the machine’s disk as a second disk', async () => {
    await world.driver.rescue(spec.id, { passwordHash: hash });
    assert.equal(await stateOf(spec.id), 'running, rescue');
    const read = 'mount -t ext4 -o ro /dev/vdb2 /mnt && cat /mnt/mark && hostname';
    assert.equal(await world.sshWithRetry(spec.id, read, { password: PASSWORD }), 'kept\nrescue\n');
    const pid = await pidOf(spec.id);
    await world.driver.rescue(spec.id, { passwordHash: hash });
    assert.equal(await pidOf(spec.id), pid);
    await crash(spec.id);
    await world.eventually(async () => (await world.driver.superviseMachines()).length > 0);
    assert.equal(await stateOf(spec.id), 'running, rescue');
    await world.driver.power(spec.id, 'reset');
    assert.equal(await stateOf(spec.id), 'running');
    assert.equal((await world.sshWithRetry(spec.id, 'cat /data/mark')).trim(), 'kept');
    assert.ok(
      !existsSync(fileOf(spec.id, 'rescue.qcow2')) && !existsSync(fileOf(spec.id, 'rescue-seed.iso')),
    );
  });

  it('after a restart of the host, only machines that should be on are started', async () => {
    const off = specOf({ id: 'srv_off', ipv4: { address: '192.0.2.11', gateway: '192.0.2.1' } });
    await world.driver.ensure(off);
    await world.driver.power(off.id, 'off');
    await crash(spec.id);
    await rm(world.host.layout.runDir, { recursive: true });
    await world.net.runInRouter('ip', ['link', 'delete', 'dev', world.host.tap(spec.id)]);
    await world.net.runInRouter('nft', ['flush', 'ruleset']);
    await rm(fileOf(spec.id, 'crashes.json'), { force: true });
    const says = `${spec.id} restarted: it was off, as after a restart of this host`;
    assert.deepEqual(formatOutcomes(await world.newDriver().superviseMachines()), [says]);
    assert.equal(await stateOf(off.id), 'stopped');
    assert.equal((await world.sshWithRetry(spec.id, 'cat /data/mark')).trim(), 'kept');
    await world.driver.remove(off.id);
  });

  it('a killed rebuild is finished with an empty disk, the same addresses, and no old disk', async () => {
    const next = { ...childSpec(), generation: 2 };
    await killWhenExists(world, fileOf(spec.id, 'seed-2.iso'), 'rebuild', next);
    // Nothing is broken, whether or not the record was already written.
    assert.deepEqual(
      (await world.driver.superviseMachines()).filter(({ outcome }) => outcome === 'failed'),
      [],
    );
    await world.driver.rebuild(next);
    await until(spec.id, 'running');
    assert.ok(!existsSync(fileOf(spec.id, 'disk-1.qcow2')) && !existsSync(fileOf(spec.id, 'seed-1.iso')));
    assert.equal(await world.ssh(spec.id, 'ls /data/mark 2>/dev/null; hostname', { family: 6 }), 'web-1\n');
  });

  it('a guest stays on after a reboot, and stays off after a shutdown, which is reported once', async () => {
    const boot = () => world.sshWithRetry(spec.id, 'cat /proc/sys/kernel/random/boot_id');
    const before = await boot();
    await world.ssh(spec.id, 'reboot');
    await world.eventually(async () => (await boot()) !== before);
    await world.ssh(spec.id, 'poweroff');
    await until(spec.id, 'stopped');
    assert.deepEqual(formatOutcomes(await world.driver.superviseMachines()), [
      `${spec.id} off: the guest shut itself down`,
    ]);
    assert.deepEqual(await world.driver.superviseMachines(), []);
    assert.equal((await readRecord(world.host.layout, spec.id))?.power, 'off');
    assert.equal(await stateOf(spec.id), 'stopped');
  });

  it('a customer’s ISO boots from the CD with an empty disk and is running from the start', async () => {
    const iso = { path: world.tiny.iso, sha256: '0'.repeat(64) };
    const image = { id: 'img_own', family: 'own', version: '1', cloudInit: false, iso, base: null };
    await world.driver.rebuild({ ...spec, image, generation: 3 });
    assert.equal(await stateOf(spec.id), 'running');
    // Only a booted guest reacts to the power button.
    await world.eventually(async () => {
      await world.driver.power(spec.id, 'acpi');
      return (await stateOf(spec.id)) === 'stopped';
    });
    assert.ok(!existsSync(fileOf(spec.id, 'disk-2.qcow2')));
  });

  it('a guest without SSH counts as installed a minute after its network answers', async () => {
    const userData = new TextEncoder().encode('#!/bin/sh\nrm /bin/dropbear\n');
    await world.driver.rebuild({ ...spec, generation: 4, userData });
    await world.eventually(async () => {
      assert.equal(await stateOf(spec.id), 'installing');
      return (await readRecord(world.host.layout, spec.id))?.answersSince !== null;
    });
    const record = await readRecord(world.host.layout, spec.id);
    assert.ok(record);
    await writeRecord(world.host.layout, {
      ...record,
      answersSince: new Date(Date.now() - 61_000).toISOString(),
    });
    assert.equal(await stateOf(spec.id), 'running');
    // A guest that drops all packets counts as installed after a longer time.
    await world.net.runInRouter('ip', ['link', 'set', 'dev', world.host.tap(spec.id), 'down']);
    await writeRecord(world.host.layout, record);
    assert.equal(await stateOf(spec.id), 'installing');
    const begun = new Date(Date.now() - 901_000);
    await utimes(world.host.layout.runtimeFile(spec.id, 'pid'), begun, begun);
    assert.equal(await stateOf(spec.id), 'running');
  });

  it('an impossible request is refused before anything is created', async () => {
    const image = { ...spec.image, base: 'f'.repeat(64) };
    await failsAs('refused', world.driver.ensure(specOf({ id: 'srv_new', image })));
    await failsAs('refused', world.driver.rebuild({ ...spec, generation: 5, image }));
    await failsAs('host', world.driver.ensure(specOf({ id: 'srv_new', host: 'nowhere' })));
    assert.deepEqual(await world.driver.list(), [spec.id]);
  });
});

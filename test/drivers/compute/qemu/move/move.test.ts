import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';
import { findProcesses, killIfAlive } from '../../../../../src/drivers/compute/qemu/processes.ts';
import type { MachineSpec } from '../../../../../src/ports/compute.ts';
import { byLevel } from '../../../../support/runs.ts';
import { failsAs } from '../../compute-world.ts';
import { EchoConnection, Pings } from '../support/guest-traffic.ts';
import { type MoveWorld, moveWorld, type Side } from '../support/move-world.ts';
import { REAL_MACHINES } from '../support/qemu-world.ts';

/** Without KVM, and next to other tests, a host is slow. The figure of each move is printed. */
const LOSS_MAX_MS = 10_000;
const ROUNDS = byLevel({ sample: 1, full: 1, soak: 20 });

/** Numbered lines on the disk, each written before the next; and memory that changes all the time. */
const LOAD =
  '(i=0; while :; do i=$((i+1)); echo $i >>/data/log; sync; usleep 20000; done) >/dev/null 2>&1 & ' +
  '(while :; do dd if=/dev/urandom of=/tmp/memory bs=64k count=16; usleep 200000; done) >/dev/null 2>&1 &';

describe('moving a machine between two hosts', REAL_MACHINES, () => {
  let moving: MoveWorld;
  let spec: MachineSpec;
  /** Where the guest is, and the other host. */
  let here: Side;
  let there: Side;
  const volume = { id: 'moved-volume', sizeGb: 1, device: '/dev/vdb' };

  before(async () => {
    moving = await moveWorld();
    ({ one: here, three: there } = moving);
    spec = await moving.start('moved');
    await here.driver.attach(spec.id, volume);
    await moving.ssh(spec, 'dd if=/dev/urandom of=/dev/vdb bs=1M count=8 && sync');
    await moving.ssh(spec, LOAD);
  });
  after(async () => await moving?.close());

  // The tests share one guest. Without it, each would wait for minutes.
  let hasFailed = false;
  beforeEach(() => assert.ok(!hasFailed, 'an earlier test failed'));
  afterEach((t) => {
    hasFailed ||= !(t as unknown as { readonly passed: boolean }).passed;
  });

  async function stateAt(side: Side): Promise<string> {
    return (await side.driver.observe([spec.id]))[0]?.state ?? 'nothing';
  }

  /** The log's lines are 1, 2, 3, … up to the number that is returned. */
  async function readLog(): Promise<number> {
    const script = 'awk \'$1 != NR { print "broken"; exit } END { print NR }\' /data/log';
    const lines = Number(await moving.ssh(spec, script));
    assert.ok(lines > 0, 'a write was lost');
    return lines;
  }

  async function sumVolume(): Promise<string> {
    return await moving.ssh(spec, 'dd if=/dev/vdb bs=1M count=8 2>/dev/null | md5sum');
  }

  it('a guest under load keeps its connections, its disk, and its volume', async (t) => {
    const sum = await sumVolume();
    const written = await readLog();
    const { net } = moving.world;
    const echo = new EchoConnection(net.outside, moving.world.sshArguments(spec.ipv4.address));
    t.after(() => echo.close());
    assert.ok(await echo.exchange());
    for (let round = 1; round <= ROUNDS; round++) {
      const pings = new Pings(net.outside, spec.ipv4.address);
      await moving.world.eventually(async () => pings.answers > 0);
      const began = performance.now();
      const progress = await moving.move(spec, here, there, [volume]);
      const tookMs = Math.round(performance.now() - began);
      assert.equal(progress.state, 'sent', progress.message ?? '');
      [here, there] = [there, here];
      if (!(await echo.exchange())) assert.fail(`the connection broke: ${await moving.describe(spec)}`);
      const answered = pings.answers;
      await moving.world.eventually(async () => pings.answers > answered);
      const lostMs = await pings.stop();
      t.diagnostic(`move ${round}: ${tookMs} ms, ${lostMs} ms without answers`);
      assert.ok(lostMs < LOSS_MAX_MS, `${lostMs} ms without answers`);
      assert.equal(await stateAt(here), 'running');
      assert.equal(await stateAt(there), 'absent');
      assert.deepEqual(await there.driver.list(), []);
      assert.equal(existsSync(there.host.layout.volume(volume.id, 'qcow2')), false);
    }
    assert.equal(await sumVolume(), sum);
    assert.ok((await readLog()) > written, 'the guest stopped writing');
    assert.deepEqual(await here.driver.superviseMachines(), []);
  });

  it('neighbors need no announcement: they have no entry of a guest, and wrong ones do no harm', async () => {
    const { net } = moving.world;
    const { address, gateway } = spec.ipv4;
    const outside = async (...words: string[]) => await net.runOutside('ip', words);
    const readLink = async () => {
      const route = await outside('-o', 'route', 'show', address);
      return / via \S+ dev (\S+)/.exec(route)?.[1] ?? assert.fail(route);
    };
    const ownNeighbor = async () => await outside('neigh', 'show', address);
    assert.equal(await ownNeighbor(), '');
    const link = await readLink();
    await outside(
      'neigh',
      'replace',
      address,
      'lladdr',
      '02:00:00:00:00:01',
      'dev',
      link,
      'nud',
      'permanent',
    );
    // The guest keeps its own entry, which is right on both hosts.
    const gatewayMac = async () =>
      (await moving.ssh(spec, `awk '$1 == "${gateway}" { print $4 }' /proc/net/arp`)).trim();
    const before = await gatewayMac();
    const { state, message } = await moving.move(spec, here, there, [volume]);
    assert.equal(state, 'sent', message ?? '');
    [here, there] = [there, here];
    assert.equal(await gatewayMac(), before);
    const tap = await here.host.runInNet('ip', ['link', 'show', 'dev', here.host.tap(spec.id)]);
    assert.ok(tap.includes(`link/ether ${before} `), tap);
    // A neighbor that takes the address for one of the link gets no answer from its host.
    const now = await readLink();
    await outside('route', 'replace', `${address}/32`, 'dev', now);
    await outside('neigh', 'delete', address, 'dev', link);
    await assert.rejects(net.runOutside('ping', ['-c', '1', '-W', '2', '-I', '198.51.100.7', address]));
    assert.match(await ownNeighbor(), /FAILED|INCOMPLETE/);
    await outside('route', 'delete', `${address}/32`, 'dev', now);
    await readLog();
  });

  it('both disks are equal when a guest is sent, and it continues where it was if it is kept', async () => {
    const move = moving.createMove(spec, here, there);
    const progress = await moving.send(move, { spec: { ...spec, host: there.name }, volumes: [volume] });
    assert.equal(progress.state, 'sent', progress.message ?? '');
    const [own = '', copy = ''] = [here, there].map(({ host }) => host.layout.disk(spec.id, spec.generation));
    const compared = await run('qemu-img', ['compare', '-U', own, copy], { timeoutMs: 120_000 });
    assert.match(compared, /identical/);
    // Until it is decided who has it, no call runs it on either host.
    await failsAs('transient', here.driver.power(spec.id, 'on'));
    await failsAs('transient', here.driver.rebuild({ ...spec, generation: spec.generation + 1 }));
    await failsAs('transient', there.driver.ensure({ ...spec, host: there.name }));
    assert.deepEqual(await here.driver.superviseMachines(), []);
    assert.equal(await stateAt(there), 'absent');
    assert.equal((await here.driver.moves.send(move, { address: '127.0.0.1:1' })).state, 'sent');
    await here.driver.moves.keep(move);
    await failsAs('refused', here.driver.moves.forget(move, 'from'));
    await there.driver.moves.forget(move, 'to');
    await readLog();
    await failsAs('transient', there.driver.moves.takeOver(move));
  });

  it('a move that fails leaves the guest where it was', async () => {
    const machine = { spec: { ...spec, host: there.name }, volumes: [volume] };
    const failures = {
      'the target knows nothing of it': async (moveId: string) => await rm(there.host.layout.move(moveId)),
      'the QEMU of the target died': async () => await killQemu(there),
      'the streams were cut': async (moveId: string) => await rm(there.host.layout.move(moveId)),
    };
    for (const [name, fail] of Object.entries(failures)) {
      const move = moving.createMove(spec, here, there);
      const endpoint = await there.driver.moves.receive(move, machine);
      const isLate = name !== 'the target knows nothing of it';
      if (!isLate) await fail(move.id);
      const send = () => here.driver.moves.send(move, endpoint);
      const sending = send();
      const socket = there.host.layout.runtimeFile(spec.id, 'move-memory');
      if (isLate) await moving.world.eventually(async () => existsSync(socket));
      if (isLate) await fail(move.id);
      let progress = await sending;
      while (progress.state === 'copying') progress = await send();
      assert.equal(progress.state, 'failed', name);
      await here.driver.moves.keep(move);
      await there.driver.moves.forget(move, 'to');
      assert.equal(await stateAt(here), 'running');
      await readLog();
    }
  });

  it('a stopped machine moves with its disk, and stays stopped', async () => {
    const sum = await sumVolume();
    await here.driver.power(spec.id, 'off');
    assert.equal((await moving.move(spec, here, there, [volume])).state, 'sent');
    [here, there] = [there, here];
    assert.equal(await stateAt(here), 'stopped');
    assert.equal(await stateAt(there), 'absent');
    await here.driver.power(spec.id, 'on');
    await moving.world.eventually(async () => (await sumVolume()) === sum);
    await readLog();
  });

  async function killQemu({ host }: Side): Promise<void> {
    for (const { pid } of await findProcesses(host.layout.runtimeFile(spec.id, 'qmp'))) killIfAlive(pid);
  }
});

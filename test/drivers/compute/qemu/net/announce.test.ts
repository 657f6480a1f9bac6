import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';
import { checkAnnouncement } from '../../../../../src/drivers/compute/qemu/examine/announcement.ts';
import { QemuHost } from '../../../../../src/drivers/compute/qemu/host.ts';
import { announceMachines, birdFile } from '../../../../../src/drivers/compute/qemu/net/announce.ts';
import { setTraffic, unplugNetwork } from '../../../../../src/drivers/compute/qemu/net/network.ts';
import { createLogger } from '../../../../../src/kernel/logger.ts';
import { findProgram, skipUnlessInstalled } from '../../../../support/installed-programs.ts';
import { BgpWorld, GUEST } from '../support/bgp-world.ts';
import { readBlackholeExports, readDocumentedConfiguration } from '../support/bird.ts';
import { NET_SKIP, NetWorld } from '../support/net-world.ts';

const SKIP = NET_SKIP || skipUnlessInstalled(findProgram(['bird']), 'needs bird2');
const ON = { a: '198.51.100.11 2001:db8:100::11', b: '198.51.100.12 2001:db8:100::12', none: '- -' };

describe('addresses announced by BGP', { skip: SKIP }, () => {
  let world: BgpWorld;
  before(async () => {
    world = await BgpWorld.open();
  });
  after(() => world.close());

  const reachable = () =>
    world.until(
      async () => (await world.pings(GUEST.ipv4.address)) && (await world.pings(GUEST.ipv6.address)),
      'the client reaches the guest',
    );

  it('a server is reached at its host, where it moves to, and nowhere when it is gone', async () => {
    const [a, b] = world.hosts;
    await world.plugGuest(a);
    await world.untilRouted(ON.a);
    await reachable();
    await world.plugGuest(b);
    await world.unplugGuest(a);
    await world.untilRouted(ON.b);
    await reachable();
    await world.unplugGuest(b);
    await world.untilRouted(ON.none);
    assert.equal(await world.pings(GUEST.ipv4.address), false);
  });

  it('a restart of BIRD loses nothing, also without the service', async () => {
    const [a] = world.hosts;
    await world.plugGuest(a);
    await world.untilRouted(ON.a);
    await world.stopBird('a');
    await world.untilRouted(ON.none);
    await world.startHostBird(a);
    await world.untilRouted(ON.a);
    await reachable();
  });

  it('after a restart of the host, its addresses are announced when their servers run again', async () => {
    const [a] = world.hosts;
    // The taps are gone, and the file is from before.
    await a.host.runInNet('ip', ['link', 'delete', a.host.tap('guest')]);
    await announceMachines(a.host);
    await world.untilRouted(ON.none);
    await world.plugGuest(a);
    await world.untilRouted(ON.a);
  });

  it('a changed or missing file is repaired', async () => {
    const [a] = world.hosts;
    const file = join(a.folder, 'skerry-routes.conf');
    const text = await readFile(file, 'utf8');
    for (const damage of [() => writeFile(file, birdFile({ 4: [], 6: [] })), () => rm(file)]) {
      await damage();
      await world.stopBird('a', 'SIGTERM');
      await world.startHostBird(a);
      await announceMachines(a.host);
      assert.equal(await readFile(file, 'utf8'), text);
      await world.untilRouted(ON.a);
    }
  });

  it('an invalid configuration is not loaded, and the announcement stays', async () => {
    const [a] = world.hosts;
    const file = join(a.folder, 'bird.conf');
    const text = await readFile(file, 'utf8');
    await writeFile(file, `${text}\nnonsense;\n`);
    await world.unplugGuest(a);
    assert.equal(await world.routes(), ON.a);
    await writeFile(file, text);
    await announceMachines(a.host);
    await world.untilRouted(ON.none);
  });

  it('a blackholed address is withdrawn, or announced with a community', async () => {
    const [a] = world.hosts;
    const file = join(a.folder, 'bird.conf');
    const documented = await readFile(file, 'utf8');
    const { host } = a;
    const atRouter = async () =>
      await run('birdc', ['-s', join(a.folder, '..', 'router', 'bird.ctl'), 'show', 'route', 'all']);
    const blackhole = (blackholed: readonly (4 | 6)[]) =>
      setTraffic(host, 'guest', { bitsPerS: null, mail: false, blackholed });
    await world.plugGuest(a);
    await world.untilRouted(ON.a);
    await blackhole([4, 6]);
    await world.untilRouted(ON.none);
    const exports = (await readBlackholeExports()).map(
      (line) => [line.replace(/ \|\| .*/, ';'), line] as const,
    );
    const text = exports.reduce((now, [from, to]) => now.replace(from, to), documented);
    assert.notEqual(text, documented);
    await writeFile(file, text);
    await run('birdc', ['-s', a.socket, 'configure']);
    const communities = async () => (await atRouter()).match(/\(65535,666\)/g)?.length ?? 0;
    await world.until(async () => (await communities()) === 2, 'both addresses arrive with the community');
    await world.until(async () => (await world.routes()) === ON.a, 'the router sends both to the host');
    assert.equal(await world.pings(GUEST.ipv4.address), false);
    await blackhole([]);
    await world.until(async () => (await communities()) === 0, 'the community is withdrawn');
    await reachable();
    await writeFile(file, documented);
    await run('birdc', ['-s', a.socket, 'configure']);
    await world.unplugGuest(a);
    await world.untilRouted(ON.none);
  });

  it('doctor reports sessions, a different list, a file that is not included, and no BIRD', async () => {
    const [a] = world.hosts;
    const finding = async () => {
      const [{ level, message } = { level: '', message: '' }] = await checkAnnouncement(a.host);
      return `${level}: ${message}`;
    };
    await world.until(
      async () => (await finding()) === 'ok: 0 servers over 2 BGP sessions',
      'both sessions are established',
    );
    await world.plugGuest(a);
    assert.equal(await finding(), 'ok: 1 servers over 2 BGP sessions');
    await a.host.runInNet('ip', ['link', 'delete', a.host.tap('guest')]);
    assert.match(await finding(), /^note: BIRD announces other addresses/);
    await world.stopBird('router');
    await world.until(async () => /^fail: no BGP session/.test(await finding()), 'the sessions are down');
    await world.stopBird('a');
    assert.match(await finding(), /^fail: BIRD does not respond/);
    await world.startBird('a', 'router id 198.51.100.11; protocol device {}');
    assert.match(await finding(), /^fail: BIRD has not loaded/);
  });
});

describe('the configuration of BIRD in the docs', { skip: SKIP }, () => {
  it('BIRD accepts it, with and without the file of the service', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'skerry-bird-'));
    try {
      const file = join(folder, 'bird.conf');
      const text = (await readDocumentedConfiguration()).replaceAll('/run/', `${folder}/`);
      await writeFile(file, text);
      await run('bird', ['-p', '-c', file]);
      await writeFile(
        join(folder, 'skerry-routes.conf'),
        birdFile({ 4: ['203.0.113.10/32'], 6: ['2001:db8:1:10::/64'] }),
      );
      await run('bird', ['-p', '-c', file]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('addresses announced by a command', { skip: SKIP }, () => {
  it('the program gets the complete list when it changes, and again after it failed', async () => {
    const world = await NetWorld.create(2);
    const folder = await mkdtemp(join(tmpdir(), 'skerry-route-'));
    try {
      const program = join(folder, 'route');
      const lists = join(folder, 'lists');
      await writeFile(program, `#!/bin/sh\n{ cat; echo --; } >> ${lists}\n[ ! -e ${folder}/fails ]\n`);
      await chmod(program, 0o755);
      const { options } = world.host;
      const host = new QemuHost({
        ...options,
        log: createLogger('silent'),
        announcement: { by: 'command', program },
      });
      const [first, second] = world.guests;
      assert.ok(first && second);
      const listOf = (guests: readonly (typeof first)[]) =>
        [...guests.map(({ ipv4 }) => `${ipv4}/32`), ...guests.map(({ ipv6 }) => ipv6.replace(/1$/, '/64'))]
          .map((prefix) => `${prefix}\n`)
          .join('');
      await unplugNetwork(world.host, second.id);
      await announceMachines(host);
      await announceMachines(host);
      assert.equal(await readFile(lists, 'utf8'), `${listOf([first])}--\n`);
      await writeFile(join(folder, 'fails'), '');
      await world.plug(second);
      await announceMachines(host);
      await rm(join(folder, 'fails'));
      await rm(lists);
      await announceMachines(host);
      assert.equal(await readFile(lists, 'utf8'), `${listOf([first, second])}--\n`);
    } finally {
      await world.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});

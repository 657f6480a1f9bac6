/** A host is lost, and its servers are installed again on other hosts. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { lostHostFindings } from '../../../../src/domain/health/lost-hosts.ts';
import { addHost } from '../../../../src/domain/inventory/hosts.ts';
import { fenceHost, loseHost } from '../../../../src/domain/inventory/lost-hosts.ts';
import { blackholeServer } from '../../../../src/domain/servers/floods/blackhole.ts';
import { moveServer } from '../../../../src/domain/servers/moves/queue.ts';
import { destroyServer } from '../../../../src/domain/servers/operations/destroy.ts';
import { stopServer } from '../../../../src/domain/servers/operations/power.ts';
import { freezeServer } from '../../../../src/domain/servers/operator/controls.ts';
import { formatId } from '../../../../src/kernel/ids.ts';
import { findMove } from '../../../../src/store/servers/moves.ts';
import type { RegionWorld } from '../region-world.ts';
import { LostWorld } from './lost-world.ts';

let lost: LostWorld;
let region: RegionWorld;
before(async () => {
  lost = await LostWorld.open();
  region = lost.region;
});
after(() => lost.world.close());
beforeEach(() => region.reset([2, 2]));
afterEach(() => lost.world.assertInvariants());

const addressesOf = async (id: string) => {
  const { ipv4, ipv6_prefix } = await region.server(id);
  return [ipv4, ipv6_prefix];
};

describe('the servers of a lost host', () => {
  it('run again on another host with new addresses, under their id and for the time they paid', async () => {
    const { id } = await region.running();
    const host = await lost.hostOf(id);
    const before = await region.server(id);
    const balance = await region.balance();
    await lost.lose(host, 'rebuild');
    await lost.world.runUntilIdle();
    await loseHost(lost.world.service, host, 'rebuild');
    await lost.world.runUntilIdle();
    const server = await region.server(id);
    assert.notEqual(await lost.hostOf(id), host);
    assert.deepEqual(await region.usedHosts(), { [await lost.hostOf(id)]: 1 });
    assert.equal(server.status, 'running');
    assert.deepEqual([server.paid_until, server.image_id], [before.paid_until, before.image_id]);
    assert.equal(await region.balance(), balance);
    assert.notEqual(server.ipv4, before.ipv4);
    assert.notEqual(server.ipv6_prefix, before.ipv6_prefix);
    const installed = (await region.machine(id))?.installed;
    assert.deepEqual([installed?.ipv4.address, installed?.ipv6.prefix], [server.ipv4, server.ipv6_prefix]);
    assert.equal(await lost.heldAddresses(), 2);
    assert.deepEqual((await region.events()).slice(-2), ['server.lost', 'server.rebuilt']);
    const old = [`${before.ipv4}/32`, before.ipv6_prefix];
    const current = [`${server.ipv4}/32`, server.ipv6_prefix];
    assert.deepEqual(
      await lost.assigned(id),
      [...old, ...current].sort(),
      'the lost machine may use the old ones',
    );
    await fenceHost(lost.world.service, host);
    assert.equal(await lost.heldAddresses(), 0);
    assert.deepEqual(await lost.assigned(id), current.sort());
  });

  it('are no longer blackholed if they get new addresses', async () => {
    const blackholes = async () => (await lost.world.db.rows('select from blackholes')).length;
    const [first, kept] = [await region.running(), await region.running()];
    for (const { id } of [first, kept]) {
      const order = { target: 'both', minutes: 60 } as const;
      await blackholeServer(lost.world.service, formatId('server', id), order);
    }
    await lost.world.runUntilIdle();
    const host = await lost.hostOf(first.id);
    const fenced = await lost.hostOf(kept.id);
    assert.notEqual(host, fenced);
    await lost.lose(host, 'rebuild');
    await lost.world.runUntilIdle();
    assert.equal(await blackholes(), 1);
    const mails = await lost.world.db.rows(`select from mails where kind = 'blackhole_lifted'`);
    assert.equal(mails.length, 1);
  });

  it('keep their addresses if the host was fenced before they are placed', async () => {
    const { id } = await region.running();
    const host = await lost.hostOf(id);
    const before = await addressesOf(id);
    await lost.lose(host, 'rebuild');
    await fenceHost(lost.world.service, host);
    await lost.world.runUntilIdle();
    assert.notEqual(await lost.hostOf(id), host);
    assert.deepEqual(await addressesOf(id), before);
    assert.equal(await lost.heldAddresses(), 0);
  });

  it('wait for a host with room, and are refunded if the operator decides so', async () => {
    await region.reset([2]);
    const [first, second] = [await region.running(), await region.running()];
    const host = await lost.hostOf(first.id);
    await lost.lose(host, 'rebuild');
    const isWaiting = async () => {
      const findings = await lostHostFindings(lost.world.service);
      return findings.some(({ message }) =>
        message.startsWith(`${host} is lost: servers waiting for a host with room, or an address: 2;`),
      );
    };
    await lost.workUntil(isWaiting);
    assert.equal((await region.server(first.id)).status, 'installing');
    await lost.world.simulator.addHost({ name: `${host}-b`, cpu: 8, ramMb: 1024, diskGb: 10 });
    const shape = { name: `${host}-b`, regionId: region.regionId, cpu: 8, ramMb: 1024, diskGb: 10 };
    await addHost(lost.world.service, shape, async () => undefined);
    const statuses = async () => [
      (await region.server(first.id)).status,
      (await region.server(second.id)).status,
    ];
    await lost.workUntil(async () => (await statuses()).includes('running'));
    await loseHost(lost.world.service, host, 'refund');
    await lost.world.runUntilIdle();
    const gone = [await region.isGone(first.id), await region.isGone(second.id)];
    assert.deepEqual(gone.toSorted(), [false, true]);
  });

  it('can be deleted by their customers while they wait', async () => {
    await region.reset([1]);
    const { id, shown } = await region.running();
    await lost.lose(await lost.hostOf(id), 'rebuild');
    await region.runDueWork();
    await destroyServer(lost.world.service, region.actor, shown);
    await lost.world.runUntilIdle();
    assert.ok(await region.isGone(id));
    assert.equal(await lost.heldAddresses(), 2);
  });

  it('are installed elsewhere if they never ran', async () => {
    const id = await region.order();
    const row = await lost.world.db.row<{ name: string }>(
      'select h.name from servers s join hosts h on h.id = s.host_id where s.id = $1',
      [id],
    );
    await lost.lose(row?.name ?? '', 'rebuild');
    await lost.world.runUntilIdle();
    assert.equal((await region.server(id)).status, 'running');
    assert.notEqual(await lost.hostOf(id), row?.name);
    assert.equal(await lost.heldAddresses(), 2);
  });

  it('run again also if an operation waits for the host', async () => {
    const { id, shown } = await region.running();
    const host = await lost.hostOf(id);
    await lost.world.simulator.setHostDown(host, true);
    await stopServer(lost.world.service, region.actor, shown);
    await region.runDueWork();
    await lost.lose(host, 'rebuild');
    await lost.world.runUntilIdle();
    assert.equal((await region.server(id)).status, 'running');
  });

  it('are frozen again after the install if they were', async () => {
    const { id, shown } = await region.running();
    await freezeServer(lost.world.service, shown, 'abuse');
    await lost.world.runUntilIdle();
    await lost.lose(await lost.hostOf(id), 'rebuild');
    await lost.world.runUntilIdle();
    const { status, suspended_reason: reason } = await region.server(id);
    assert.deepEqual([status, reason], ['suspended', 'operator']);
    assert.equal((await region.machine(id))?.state, 'stopped');
  });

  it('leave a copy of a move that is deleted before they are placed', async () => {
    const { id, shown } = await region.running();
    await moveServer(lost.world.service, shown, null);
    await lost.workUntil(async () => ((await findMove(lost.world.db, id))?.total_bytes ?? 0n) > 0n);
    const host = await lost.hostOf(id);
    await lost.lose(host, 'rebuild');
    await lost.world.runUntilIdle();
    assert.equal((await region.server(id)).status, 'running');
    assert.equal(await findMove(lost.world.db, id), undefined);
    assert.deepEqual(await region.usedHosts(), { [await lost.hostOf(id)]: 1 });
  });
});

/** A host is lost, and its servers are refunded. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { lostHostFindings } from '../../../../src/domain/health/lost-hosts.ts';
import { drainHost } from '../../../../src/domain/inventory/hosts.ts';
import { describeLoss, fenceHost, loseHost } from '../../../../src/domain/inventory/lost-hosts.ts';
import { removeHost } from '../../../../src/domain/inventory/remote-hosts.ts';
import { moveEverythingOff, moveServer } from '../../../../src/domain/servers/moves/queue.ts';
import { stopServer } from '../../../../src/domain/servers/operations/power.ts';
import { placeLegalHold, releaseServer } from '../../../../src/domain/servers/operator/controls.ts';
import { createSnapshot } from '../../../../src/domain/snapshots/change.ts';
import { getSnapshot } from '../../../../src/domain/snapshots/read.ts';
import { attachVolume, detachVolume } from '../../../../src/domain/volumes/attach.ts';
import { deleteVolume } from '../../../../src/domain/volumes/change.ts';
import { Failure } from '../../../../src/kernel/fail.ts';
import { parseId } from '../../../../src/kernel/ids.ts';
import { mulDiv } from '../../../../src/kernel/money.ts';
import { OperatorError } from '../../../../src/kernel/operator-error.ts';
import { DAY_MS, HOUR_MS } from '../../../../src/kernel/time.ts';
import type { MailKind } from '../../../../src/spec/mails/kinds.ts';
import { findMove } from '../../../../src/store/servers/moves.ts';
import { type QueuedMail, queuedMails } from '../../../support/queued-mails.ts';
import type { RegionWorld } from '../region-world.ts';
import { LostWorld } from './lost-world.ts';

let lost: LostWorld;
let region: RegionWorld;
before(async () => {
  lost = await LostWorld.open();
  region = lost.region;
});
after(() => lost.world.close());
beforeEach(() => region.reset());
afterEach(() => lost.world.assertInvariants());

async function mailsOf<Kind extends MailKind>(kind: Kind): Promise<QueuedMail<Kind>[]> {
  const row = await lost.world.db.row<{ email: string }>('select email from customers where id = $1', [
    region.customerId,
  ]);
  return await queuedMails(lost.world.service, kind, row?.email ?? '');
}

async function statusOf(host: string): Promise<string> {
  const findings = await lostHostFindings(lost.world.service);
  return findings.flatMap(({ message }) => (message.startsWith(host) ? message : [])).join('\n');
}

async function refused(work: Promise<unknown>, message: RegExp): Promise<void> {
  await assert.rejects(work, (error) => error instanceof OperatorError && message.test(error.message));
}

describe('the servers of a lost host', () => {
  it('are refunded for their unused time to the cent, once, and removed without the host', async () => {
    const { service, clock } = lost.world;
    const { id } = await region.running();
    const { created_at: start, paid_until: end, price_cents_cycle: price } = await region.server(id);
    clock.advanceS((11 * DAY_MS + 7 * HOUR_MS) / 1000);
    const host = await lost.hostOf(id);
    const before = await region.balance();
    const lostAt = clock.now();
    await lost.lose(host, 'refund');
    clock.advanceS(60);
    await loseHost(service, host, 'refund');
    await lost.world.runUntilIdle();
    await loseHost(service, host, 'refund');
    await lost.world.runUntilIdle();
    const unused = BigInt(end.getTime() - lostAt.getTime());
    const expected = mulDiv(price, unused, BigInt(end.getTime() - start.getTime()), 'half_up');
    assert.ok(expected > 0n && expected < price);
    assert.equal((await region.balance()) - before, expected);
    assert.ok(await region.isGone(id));
    const events = await region.events();
    assert.deepEqual(events.slice(-2), ['server.lost', 'server.destroyed']);
    assert.ok((await region.auditedActions()).includes('server.lose ok'));
    assert.deepEqual(await region.usedHosts(), {});
    const mails = await mailsOf('server_lost');
    assert.deepEqual(
      mails.map(({ data }) => [data.lostAt, data.refundedCents]),
      [[lostAt, expected]],
    );
  });

  it('are refunded in full if they never ran', async () => {
    const before = await region.balance();
    const id = await region.order();
    const row = await lost.world.db.row<{ name: string }>(
      'select h.name from servers s join hosts h on h.id = s.host_id where s.id = $1',
      [id],
    );
    await lost.lose(row?.name ?? '', 'refund');
    await lost.world.runUntilIdle();
    assert.ok(await region.isGone(id));
    assert.equal(await region.balance(), before);
    assert.equal(await lost.heldAddresses(), 2);
  });

  it('are removed also if an operation waits for the host', async () => {
    const { id, shown } = await region.running();
    await lost.world.simulator.setHostDown(await lost.hostOf(id), true);
    await stopServer(lost.world.service, region.actor, shown);
    await region.runDueWork();
    await lost.lose(await lost.hostOf(id), 'refund');
    await lost.world.runUntilIdle();
    assert.ok(await region.isGone(id));
  });

  it('stay on record while they are under a legal hold', async () => {
    const { service, db, clock } = lost.world;
    const { id, shown } = await region.running();
    await placeLegalHold(service, shown, 'order 7');
    const host = await lost.hostOf(id);
    await lost.world.simulator.setHostDown(host, true);
    await stopServer(service, region.actor, shown);
    await lost.lose(host, 'refund');
    await region.runDueWork();
    assert.equal((await region.server(id)).status, 'running');
    assert.ok((await region.auditedActions()).includes('server.stop error'));
    assert.match(await statusOf(host), /servers under a legal hold, kept on record: 1/);
    assert.equal((await describeLoss(service, host)).held_servers, 1n);
    await releaseServer(service, shown, { freeze: false, hold: true });
    clock.advanceS(600);
    await lost.world.runUntilIdle();
    assert.ok(await region.isGone(id));
    const refunds = await db.rows(`select from transfers where type = 'refund' and resource_id = $1`, [id]);
    assert.equal(refunds.length, 1);
  });
});

describe('a lost host', () => {
  it('holds the addresses of its servers until it is fenced, and can then be removed', async () => {
    const { service, clock } = lost.world;
    const { id } = await region.running();
    const host = await lost.hostOf(id);
    const free = await region.freeAddresses();
    await refused(fenceHost(service, host), /not lost/);
    await lost.lose(host, 'refund');
    await lost.world.runUntilIdle();
    assert.equal(await lost.heldAddresses(), 2);
    clock.advanceS((400 * DAY_MS) / 1000);
    assert.deepEqual(await region.freeAddresses(), free);
    assert.match(await statusOf(host), /addresses held: 2;/);
    await refused(removeHost(service, host), /held addresses/);
    await refused(drainHost(service, host, false), /is lost/);
    assert.equal(await fenceHost(service, host), 2n);
    assert.equal(await fenceHost(service, host), 0n);
    assert.deepEqual(await region.freeAddresses(), free);
    clock.advanceS((7 * DAY_MS) / 1000);
    assert.deepEqual(await region.freeAddresses(), { four: free.four + 1, six: free.six + 1 });
    assert.match(await statusOf(host), /nothing is left/);
    await removeHost(service, host);
  });

  it('lets the addresses rest as usual if it was fenced before its servers are removed', async () => {
    const { id } = await region.running();
    const host = await lost.hostOf(id);
    const free = await region.freeAddresses();
    await lost.lose(host, 'refund');
    await fenceHost(lost.world.service, host);
    await lost.world.runUntilIdle();
    assert.equal(await lost.heldAddresses(), 0);
    lost.world.clock.advanceS((7 * DAY_MS) / 1000);
    assert.deepEqual(await region.freeAddresses(), { four: free.four + 1, six: free.six + 1 });
  });

  it('lets addresses with a published name rest as usual, also without DNS', async () => {
    const { service, db, clock } = lost.world;
    const { id } = await region.running();
    const { ipv4 } = await region.server(id);
    const host = await lost.hostOf(id);
    const free = await region.freeAddresses();
    const row = `insert into published_rdns (address, server_id, host) values ($1::inet, $2, 'a.example')`;
    await db.run(row, [ipv4, id]);
    await lost.lose(host, 'refund');
    await lost.world.runUntilIdle();
    // As if DNS was in use until the server was removed.
    await db.run('update published_rdns set free_from = $2 where server_id = $1', [id, clock.now()]);
    assert.equal(await fenceHost(service, host), 2n);
    await lost.world.runUntilIdle();
    clock.advanceS((7 * DAY_MS) / 1000);
    assert.deepEqual(await region.freeAddresses(), { four: free.four + 1, six: free.six + 1 });
  });

  it('lets addresses rest as usual whose names were never withdrawn', async () => {
    const { service, db, clock } = lost.world;
    const { id } = await region.running();
    const { ipv4 } = await region.server(id);
    const host = await lost.hostOf(id);
    const free = await region.freeAddresses();
    const row = `insert into published_rdns (address, server_id, host) values ($1::inet, $2, 'a.example')`;
    await db.run(row, [ipv4, id]);
    await lost.lose(host, 'refund');
    await lost.world.runUntilIdle();
    await fenceHost(service, host);
    clock.advanceS((7 * DAY_MS) / 1000);
    assert.deepEqual(await region.freeAddresses(), { four: free.four + 1, six: free.six + 1 });
  });

  it('takes its volumes and snapshots with it, attached or not', async () => {
    await region.reset([4, 4]);
    const { service } = lost.world;
    const { id, shown } = await region.running();
    const attached = await lost.attachedVolume(shown);
    const detached = await lost.attachedVolume(shown);
    await detachVolume(service, region.actor, detached);
    const snapshot = await createSnapshot(service, region.actor, shown, { name: 'nightly' });
    await lost.world.runUntilIdle();
    await lost.lose(await lost.hostOf(id), 'refund');
    await lost.world.runUntilIdle();
    for (const shownVolume of [attached, detached]) {
      const { server_id, host_id, disk_gb, lost_at } = await lost.volume(shownVolume);
      assert.deepEqual([server_id, host_id, disk_gb, lost_at !== null], [null, null, 0, true]);
    }
    const events = await region.events();
    assert.equal(events.filter((type) => type === 'volume.lost').length, 2);
    assert.equal(events.filter((type) => type === 'volume.detached').length, 2);
    assert.equal(events.filter((type) => type === 'snapshot.failed').length, 1);
    const seen = await getSnapshot(service, region.actor, snapshot.id);
    assert.deepEqual([seen.status, seen.size_gb], ['error', 0]);
    const [mail] = await mailsOf('storage_lost');
    assert.deepEqual(
      [mail?.data.volumes, mail?.data.snapshots, mail?.data.more],
      [['data', 'data'], ['nightly'], 0],
    );
    const other = await region.running();
    const body = { server: other.shown };
    await assert.rejects(attachVolume(service, region.actor, attached, body), (error) => {
      return error instanceof Failure && error.code === 'conflict_state';
    });
    await deleteVolume(service, region.actor, attached);
    await lost.world.runUntilIdle();
  });
});

describe('a move and a lost host', () => {
  async function startMove(shown: string, to: string | null = null): Promise<void> {
    await moveServer(lost.world.service, shown, to);
    const id = parseId('server', shown) ?? assert.fail(shown);
    await lost.workUntil(async () => ((await findMove(lost.world.db, id))?.total_bytes ?? 0n) > 0n);
  }

  it('a server whose copy was on its way to the host stays on its source', async () => {
    await region.reset([1, 1]);
    const { id, shown } = await region.running();
    const from = await lost.hostOf(id);
    await startMove(shown);
    const move = (await findMove(lost.world.db, id)) ?? assert.fail('no move');
    await lost.lose(move.to_name ?? '', 'refund');
    await lost.workUntil(async () => (await findMove(lost.world.db, id))?.state === 'queued');
    assert.equal(await lost.hostOf(id), from);
    assert.equal((await region.server(id)).status, 'running');
    assert.deepEqual(await region.usedHosts(), { [from]: 1 });
    await drainHost(lost.world.service, from, false);
  });

  it('a server whose copy was on its way from the host is lost, and its copy is deleted', async () => {
    await region.reset([1, 1]);
    const { id, shown } = await region.running();
    await startMove(shown);
    await lost.lose(await lost.hostOf(id), 'refund');
    await lost.world.runUntilIdle();
    assert.ok(await region.isGone(id));
    assert.deepEqual(await region.usedHosts(), {});
    const moves = await lost.world.simulator.moves();
    assert.equal(moves.find(({ machineId }) => machineId === id)?.target, 'gone');
  });

  it('a queued move from the host, or to it, is dropped', async () => {
    await region.reset([1, 1]);
    const { id, shown } = await region.running();
    const from = await lost.hostOf(id);
    const to = region.hosts.find((name) => name !== from) ?? assert.fail();
    await moveServer(lost.world.service, shown, to);
    await lost.lose(to, 'refund');
    await lost.world.runUntilIdle();
    assert.equal(await findMove(lost.world.db, id), undefined);
    await refused(moveEverythingOff(lost.world.service, to, 1), /is lost/);
    assert.equal((await region.server(id)).status, 'running');
  });
});

/** A host is lost after a volume was refused there, or after the volume of another host was refused. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { attachVolume, detachVolume } from '../../../../src/domain/volumes/attach.ts';
import { updateVolume } from '../../../../src/domain/volumes/change.ts';
import { ensureVolume } from '../../../../src/domain/volumes/ensure.ts';
import { Failure } from '../../../../src/kernel/fail.ts';
import { parseId } from '../../../../src/kernel/ids.ts';
import { type ComputeDriver, ComputeError } from '../../../../src/ports/compute.ts';
import type { RegionWorld } from '../region-world.ts';
import { LostWorld } from './lost-world.ts';

let lost: LostWorld;
let region: RegionWorld;
/** The host with the data of the volume, another one, and the public ids of the volume and their servers. */
let a: string;
let b: string;
let volume: string;
let onA: string;
let onB: string;

before(async () => {
  lost = await LostWorld.open();
  region = lost.region;
});
after(() => lost.world.close());
afterEach(() => lost.world.assertInvariants());
beforeEach(async () => {
  await region.reset([4, 4]);
  const { db } = lost.world;
  const servers = [await region.running()];
  // Hosts are chosen at random.
  const hosts = async () => await Promise.all(servers.map(({ id }) => lost.hostOf(id)));
  while (new Set(await hosts()).size < 2) servers.push(await region.running());
  onA = servers[0]?.shown ?? assert.fail();
  onB = servers.at(-1)?.shown ?? assert.fail();
  [a = '', b = ''] = [(await hosts())[0], (await hosts()).at(-1)];
  volume = await lost.attachedVolume(onA);
  await lost.addBackends();
  await db.run(`delete from placed_resources where kind = 'volume'`);
  await detachVolume(lost.world.service, region.actor, volume);
  await lost.world.runUntilIdle();
});

/** The data of the volume is on the first host. */
async function placeData(): Promise<void> {
  const values = [parseId('volume', volume), a];
  await lost.world.db.run(
    `insert into placed_resources (kind, id, backend) values ('volume', $1, $2)`,
    values,
  );
}

/** The data turns out to be on the first host only after the volume was attached on the second. */
async function attachTooEarly(): Promise<void> {
  await attachVolume(lost.world.service, region.actor, volume, { server: onB });
  await placeData();
}

/** Runs the task of the volume with a driver that has the data of volumes on their backends. */
async function runTask(): Promise<void> {
  const { service, db } = lost.world;
  const attach: ComputeDriver['attach'] = async (machine, spec) => {
    const entry = await db.row(
      `select from placed_resources p join hosts h on h.backend = p.backend
         join servers s on s.host_id = h.id
        where s.id = $1 and p.kind = 'volume' and p.id = $2`,
      [machine, spec.id],
    );
    if (!entry) throw new ComputeError('refused', 'the volume exists on another host');
    await service.compute.attach(machine, spec);
  };
  const compute = new Proxy(service.compute, {
    get: (driver, name: keyof ComputeDriver) => {
      const member: unknown = name === 'attach' ? attach : driver[name];
      return typeof member === 'function' ? member.bind(driver) : member;
    },
  });
  const id = parseId('volume', volume) ?? assert.fail();
  while ((await ensureVolume({ ...service, compute }, id)) !== 'done');
}

const hostOfVolume = async () => {
  const row = await lost.world.db.row<{ name: string | null }>(
    'select h.name from volumes v left join hosts h on h.id = v.host_id where v.id = $1',
    [parseId('volume', volume)],
  );
  return row?.name;
};
const entries = async () =>
  await lost.world.db.rows(`select from placed_resources where kind = 'volume' and id = $1`, [
    parseId('volume', volume),
  ]);

async function refused(work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error) => {
    return error instanceof Failure && error.code === 'conflict_state' && /was lost/.test(error.message);
  });
}

it('a volume is refused on a host that does not have its data', async () => {
  await placeData();
  const { service } = lost.world;
  await assert.rejects(attachVolume(service, region.actor, volume, { server: onB }), {
    code: 'unavailable',
    message: /on another host than the server/,
  });
  assert.equal((await lost.volume(volume)).server_id, null);
  assert.equal((await attachVolume(service, region.actor, volume, { server: onA })).attached_to, onA);
});

describe('a volume that another host refused', () => {
  it('has its disk reserved where its data is', async () => {
    await attachTooEarly();
    assert.equal(await hostOfVolume(), b);
    await runTask();
    assert.equal((await lost.volume(volume)).server_id, null);
    assert.equal(await hostOfVolume(), a);
  });

  it('has its disk reserved where its data is if it was detached before the refusal', async () => {
    await attachTooEarly();
    await detachVolume(lost.world.service, region.actor, volume);
    await runTask();
    assert.equal(await hostOfVolume(), a);
  });

  it('is lost with the host that has its data, although it waits for the other one', async () => {
    await attachTooEarly();
    await lost.lose(a, 'refund');
    await lost.world.runUntilIdle();
    const { lost_at, server_id, disk_gb } = await lost.volume(volume);
    assert.deepEqual([lost_at !== null, server_id, disk_gb], [true, null, 0]);
    assert.deepEqual(await entries(), []);
    await refused(attachVolume(lost.world.service, region.actor, volume, { server: onB }));
  });

  it('survives the loss of the host that refused it', async () => {
    const { service } = lost.world;
    await attachTooEarly();
    await lost.lose(b, 'refund');
    assert.equal((await lost.volume(volume)).lost_at, null);
    await lost.workUntil(async () => await region.isGone(parseId('server', onB) ?? ''));
    await lost.world.runUntilIdle();
    assert.equal((await lost.volume(volume)).lost_at, null);
    assert.equal(await hostOfVolume(), a);
    assert.equal((await entries()).length, 1);
    await attachVolume(service, region.actor, volume, { server: onA });
    await lost.world.runUntilIdle();
    assert.equal((await lost.volume(volume)).server_id, parseId('server', onA));
  });
});

describe('a lost volume', () => {
  it('cannot grow, and can be renamed', async () => {
    const { service } = lost.world;
    await lost.lose(a, 'refund');
    await refused(updateVolume(service, region.actor, volume, { size_gb: 20 }));
    await lost.world.runUntilIdle();
    await refused(updateVolume(service, region.actor, volume, { size_gb: 20 }));
    assert.equal((await updateVolume(service, region.actor, volume, { name: 'gone' })).name, 'gone');
  });
});

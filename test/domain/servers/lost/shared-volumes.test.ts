/** A shared volume is taken from a lost host before anything else may use it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Service } from '../../../../src/domain/context.ts';
import { ensureVolume } from '../../../../src/domain/volumes/ensure.ts';
import { parseId } from '../../../../src/kernel/ids.ts';
import { type ComputeDriver, ComputeError } from '../../../../src/ports/compute.ts';
import { LostWorld } from './lost-world.ts';

let lost: LostWorld;
before(async () => {
  lost = await LostWorld.open();
  await lost.region.reset([4, 4]);
});
after(() => lost.world.close());

/** The service with storage that can fence hosts, and the calls that it gets. */
function withSharedStorage(service: Service, answers: { fences: boolean }) {
  const calls: string[] = [];
  const seizeVolume = async (id: string, host: string): Promise<void> => {
    calls.push(`seize by ${host}`);
    if (!answers.fences) throw new ComputeError('transient', 'the cluster does not respond');
    // As the composed driver does.
    await service.db.run(`update placed_resources set backend = $2 where kind = 'volume' and id = $1`, [
      id,
      host,
    ]);
  };
  const compute = new Proxy(service.compute, {
    get: (driver, name: keyof ComputeDriver) => {
      if (name === 'seizeVolume') return seizeVolume;
      const member = driver[name];
      if (typeof member !== 'function') return member;
      const call = member.bind(driver) as (...given: unknown[]) => unknown;
      return (...given: unknown[]) => {
        calls.push(name);
        return call(...given);
      };
    },
  });
  return { calls, service: { ...service, compute } };
}

describe('a shared volume of a lost host', () => {
  it('is attached to its server on another host only after its storage has fenced the lost one', async () => {
    const { region, world } = lost;
    const { id: server, shown } = await region.running();
    const volume = parseId('volume', await lost.attachedVolume(shown)) ?? assert.fail();
    const host = await lost.hostOf(server);
    await shareVolume(volume, host);
    await lost.lose(host, 'rebuild');
    const answers = { fences: false };
    const { calls, service } = withSharedStorage(world.service, answers);
    await lost.workUntil(async () => !(await lost.isOnLostHost(server)));
    await lost.workUntil(async () => (await region.server(server)).status === 'running');
    const target = await lost.hostOf(server);
    await assert.rejects(ensureVolume(service, volume), /cluster does not respond/);
    assert.deepEqual(calls, [`seize by ${target}`]);
    answers.fences = true;
    assert.equal(await ensureVolume(service, volume), 'done');
    assert.deepEqual(calls.slice(1), [`seize by ${target}`, 'attach', 'grow']);
    assert.equal(await ensureVolume(service, volume), 'done');
    assert.equal(calls.filter((call) => call.startsWith('seize')).length, 2);
    await world.runUntilIdle();
    assert.ok(!(await region.events()).includes('volume.lost'));
    await world.assertInvariants();
  });
});

/** Puts the volume on storage that the hosts share, and gives the hosts backends. */
async function shareVolume(volume: string, host: string): Promise<void> {
  const { db } = lost.world;
  await lost.addBackends();
  await db.run(
    `update hosts h set used_disk_gb = used_disk_gb - v.disk_gb from volumes v
      where v.id = $1 and h.id = v.host_id`,
    [volume],
  );
  await db.run('update volumes set shared = true, host_id = null where id = $1', [volume]);
  await db.run(`insert into placed_resources (kind, id, backend) values ('volume', $1, $2)`, [volume, host]);
}

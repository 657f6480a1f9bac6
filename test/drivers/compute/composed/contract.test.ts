import assert from 'node:assert/strict';
import type { ComputeWorld } from '../compute-world.ts';
import { computeContract } from '../contract.ts';
import { evaluateFilter } from '../evaluate-filter.ts';
import { type ComposedWorld, composedWorld, type Member } from './composed-world.ts';

/** Which backends have the two hosts of the contract. The others are cut off in turn while it runs. */
async function contractWorld(first: string | null, second: string | null): Promise<ComputeWorld> {
  const world = await composedWorld(['a', 'b', 'c']);
  const member = (name: string | null) => world.members.find((each) => each.name === name) ?? null;
  await world.addHost(member(first), 'one');
  await world.addHost(member(second), 'two');
  for (const each of world.members) {
    if (each.name === first || each.name === second) continue;
    each.outage = each.name === 'c' ? 'hangs' : 'refuses';
  }
  const controls = [world.local, ...world.members.map((each: Member) => each.world)].map(
    ({ control }) => control,
  );
  return {
    driver: world.driver,
    hosts: ['one', 'two'],
    now: () => world.local.clock.now(),
    eventually: world.eventually,
    attached: async (machineId) =>
      (await Promise.all(controls.map((control) => control.volumes())))
        .flat()
        .flatMap((volume) =>
          volume.machineId === machineId && volume.device !== null
            ? [{ id: volume.id, sizeGb: volume.sizeGb, device: volume.device }]
            : [],
        ),
    packetVerdict: async (machineId, packet) => {
      const control = await controlOf(world, machineId);
      return evaluateFilter(await control.readFilter(machineId), packet);
    },
    close: world.close,
  };
}

async function controlOf(world: ComposedWorld, machineId: string) {
  const place = (await world.directory.find('machine', [machineId])).get(machineId);
  const home = world.members.find(({ name }) => name === place)?.world ?? world.local;
  assert.equal(await home.state(machineId), 'running');
  return home.control;
}

computeContract('the composed driver with hosts on two backends', () => contractWorld('a', 'b'));
computeContract('the composed driver with a local host and a remote one', () => contractWorld(null, 'a'));
computeContract('the composed driver with two hosts on one backend', () => contractWorld('b', 'b'));

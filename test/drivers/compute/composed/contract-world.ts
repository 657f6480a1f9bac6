/** The world of the compute contract, made of a composed one. */
import assert from 'node:assert/strict';
import type { ComputeWorld } from '../compute-world.ts';
import { evaluateFilter } from '../evaluate-filter.ts';
import type { ComposedWorld } from './composed-world.ts';

/** The hosts `one` and `two` of the contract are the caller's to add. */
export function contractWorld(world: ComposedWorld): ComputeWorld {
  const controls = [world.local, ...world.members.map((each) => each.world)].map(({ control }) => control);
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

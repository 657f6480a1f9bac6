import { describe } from 'node:test';
import { computeContract } from '../contract.ts';
import { evaluateFilter } from '../evaluate-filter.ts';
import { contractOnRealMachines, qemuWorld } from '../qemu/support/qemu-world.ts';
import { simulatedWorld } from '../simulator/simulator-world.ts';
import { hostWorld } from './host-world.ts';

computeContract('a simulated host over TLS', async () => {
  const world = await simulatedWorld();
  const size = { cpu: 4, ramMb: 2048, diskGb: 16 };
  await world.control.addHosts(['one', 'two'].map((name) => ({ name, ...size })));
  const { driver, close } = await hostWorld(world.driver);
  return {
    driver,
    hosts: ['one', 'two'],
    now: () => world.clock.now(),
    eventually: world.eventually,
    attached: async (machineId) =>
      (await world.control.volumes()).flatMap((volume) =>
        volume.machineId === machineId && volume.device !== null
          ? [{ id: volume.id, sizeGb: volume.sizeGb, device: volume.device }]
          : [],
      ),
    packetVerdict: async (machineId, packet) =>
      evaluateFilter(await world.control.readFilter(machineId), packet),
    close: async () => {
      await close();
      await world.close();
    },
  };
});

describe('real machines', contractOnRealMachines('host'), () => {
  computeContract('a QEMU host over TLS', async () => {
    const world = await qemuWorld();
    const { driver, close } = await hostWorld(world.driver);
    return {
      ...world,
      driver,
      close: async () => {
        await close();
        await world.close();
      },
    };
  });
});

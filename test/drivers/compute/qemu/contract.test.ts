import { describe } from 'node:test';
import { computeContract } from '../contract.ts';
import { contractOnRealMachines, qemuWorld } from './support/qemu-world.ts';

describe('real machines', contractOnRealMachines('local'), () => {
  computeContract('QEMU', () => qemuWorld());
});

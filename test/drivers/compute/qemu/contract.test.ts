import { describe } from 'node:test';
import { computeContract } from '../contract.ts';
import { qemuWorld, REAL_MACHINES } from './support/qemu-world.ts';

describe('real machines', REAL_MACHINES, () => {
  computeContract('QEMU', () => qemuWorld());
});

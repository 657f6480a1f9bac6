import { describe } from 'node:test';
import { computeContract } from '../compute-contract.ts';
import { qemuWorld, REAL_MACHINES } from './qemu-world.ts';

describe('real machines', REAL_MACHINES, () => {
  computeContract('QEMU', () => qemuWorld());
});

/** The contract of every compute driver. Each driver's own test file calls it. */
import { after, before, describe } from 'node:test';
import { disksContract } from './compute-contract-disks.ts';
import { machinesContract } from './compute-contract-machines.ts';
import { outsideContract } from './compute-contract-outside.ts';
import { storageContract } from './compute-contract-storage.ts';
import { type ComputeWorld, ContractFixture } from './compute-world.ts';

export function computeContract(name: string, createWorld: () => Promise<ComputeWorld>): void {
  describe(`${name} keeps the compute contract`, () => {
    const fixture = new ContractFixture();
    before(() => fixture.open(createWorld));
    after(() => fixture.close());
    machinesContract(fixture);
    disksContract(fixture);
    storageContract(fixture);
    outsideContract(fixture);
  });
}

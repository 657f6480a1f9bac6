/** The contract of every compute driver. Each driver's own test file calls it. */
import { after, before, describe } from 'node:test';
import { type ComputeWorld, ContractFixture } from './compute-world.ts';
import { disksContract } from './contract-disks.ts';
import { machinesContract } from './contract-machines.ts';
import { outsideContract } from './contract-outside.ts';
import { storageContract } from './contract-storage.ts';

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

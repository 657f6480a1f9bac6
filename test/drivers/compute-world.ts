/** What the compute contract needs of a driver's world, and what its tests share. */
import assert from 'node:assert/strict';
import type { Packet } from '../../src/drivers/compute/simulator/evaluate-filter.ts';
import {
  type ComputeDriver,
  ComputeError,
  type ComputeFault,
  type MachineSpec,
  type MachineState,
} from '../../src/ports/compute.ts';
import type { FilterRule } from '../../src/ports/network.ts';

export interface ComputeWorld {
  readonly driver: ComputeDriver;
  /** Two hosts, each with room for four machines of `machineSpec`. */
  readonly hosts: readonly [string, string];
  /** What its machines differ in from `machineSpec`. */
  readonly machine?: Partial<MachineSpec>;
  now(): Date;
  /** Lets time pass until this is so; throws when it does not come about. */
  eventually(reached: () => Promise<boolean>): Promise<void>;
  /** The volumes that the hypervisor has attached to the machine, by id. */
  attached(machineId: string): Promise<{ id: string; sizeGb: number; device: string }[]>;
  /** What becomes of such a packet to or from the machine. */
  packetVerdict(machineId: string, packet: Packet): Promise<FilterRule['action']>;
  close(): Promise<void>;
}

/** A running test: what it makes is removed when it ends. */
export interface TestScope {
  after(undo: () => Promise<void>): void;
}

/** The world of one contract's tests, and short ways to act in it. */
export class ContractFixture {
  #world: ComputeWorld | undefined;
  #made = 0;

  async open(make: () => Promise<ComputeWorld>): Promise<void> {
    this.#world = await make();
  }
  async close(): Promise<void> {
    await this.#world?.close();
  }
  get world(): ComputeWorld {
    return this.#world ?? assert.fail('the world is not open');
  }
  get driver(): ComputeDriver {
    return this.world.driver;
  }

  /** An id that no machine has yet. */
  newMachineId(t: TestScope): string {
    const id = `contract-${this.#made++}`;
    t.after(() => this.driver.remove(id));
    return id;
  }
  newVolumeId(t: TestScope): string {
    const id = `volume-${this.#made++}`;
    t.after(() => this.driver.removeVolume(id));
    return id;
  }
  newSnapshotId(t: TestScope): string {
    const id = `snapshot-${this.#made++}`;
    t.after(() => this.driver.removeSnapshot(id));
    return id;
  }

  /** A machine of this world; on the first host unless told otherwise. */
  spec(wanted: Pick<MachineSpec, 'id'> & Partial<MachineSpec>): MachineSpec {
    return machineSpec({ host: this.world.hosts[0], ...this.world.machine, ...wanted });
  }
  /** The same, running. */
  async startMachine(t: TestScope, wanted: Partial<MachineSpec> = {}): Promise<MachineSpec> {
    const spec = this.spec({ id: this.newMachineId(t), ...wanted });
    await this.driver.ensure(spec);
    await this.waitForState(spec.id, 'running');
    return spec;
  }
  async observe(id: string): Promise<MachineState> {
    const [seen, ...others] = await this.driver.observe([id]);
    assert.equal(others.length, 0);
    return seen ?? assert.fail('nothing was observed');
  }
  async waitForState(id: string, state: MachineState['state']): Promise<void> {
    await this.world.eventually(async () => (await this.observe(id)).state === state);
  }
}

const numbers = new Map<string, number>();

/** The same for the same machine; another for any other, among some hundred. */
function numberOf(id: string): number {
  const number = numbers.get(id) ?? numbers.size;
  numbers.set(id, number);
  return 10 + (number % 240);
}

/** A small machine. The addresses are from the ranges kept for documents, and its own. */
export function machineSpec(wanted: Pick<MachineSpec, 'id' | 'host'> & Partial<MachineSpec>): MachineSpec {
  const number = numberOf(wanted.id);
  return {
    generation: 1,
    hostname: 'web-1',
    cpu: 1,
    ramMb: 512,
    diskGb: 4,
    image: { id: 'img_debian', family: 'debian', version: '12', cloudInit: true, iso: null, base: null },
    ipv4: { address: `192.0.2.${number}`, gateway: '192.0.2.1' },
    ipv6: { address: `2001:db8:0:${number}::1`, prefix: `2001:db8:0:${number}::/64` },
    sshKeys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY me'],
    rootPasswordHash: '$6$salt$hash',
    userData: new TextEncoder().encode('#cloud-config\n'),
    ...wanted,
  };
}

/** Asserts that the call fails as this kind of ComputeError. */
export async function failsAs(fault: ComputeFault, call: Promise<unknown>): Promise<void> {
  await assert.rejects(call, (error) => error instanceof ComputeError && error.fault === fault);
}

/** The environment that the compute contract needs from a driver's test, and helpers shared by its tests. */
import assert from 'node:assert/strict';
import {
  type ComputeDriver,
  ComputeError,
  type MachineSpec,
  type MachineState,
} from '../../../src/ports/compute.ts';
import type { ComputeFault } from '../../../src/ports/compute-fault.ts';
import type { FilterRule } from '../../../src/ports/network.ts';
import type { Packet } from './evaluate-filter.ts';

export interface ComputeWorld {
  readonly driver: ComputeDriver;
  /** Two hosts, each with capacity for four machines of `machineSpec`. */
  readonly hosts: readonly [string, string];
  /** Overrides of `machineSpec` in this world. */
  readonly machine?: Partial<MachineSpec>;
  now(): Date;
  /** Lets time pass until the condition holds; throws after a limit. */
  eventually(reached: () => Promise<boolean>): Promise<void>;
  /** Returns the volumes that the hypervisor has attached to the machine, by id. */
  attached(machineId: string): Promise<{ id: string; sizeGb: number; device: string }[]>;
  /** Returns what happens to such a packet to or from the machine. */
  packetVerdict(machineId: string, packet: Packet): Promise<FilterRule['action']>;
  close(): Promise<void>;
}

/** A running test. Resources that it creates are removed when it ends. */
export interface TestScope {
  after(undo: () => Promise<void>): void;
}

/** The world of one contract run, with shortcuts to act in it. */
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

  /** Returns an unused machine id. */
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

  /** Returns the spec of a machine in this world, on the first host by default. */
  spec(wanted: Pick<MachineSpec, 'id'> & Partial<MachineSpec>): MachineSpec {
    return machineSpec({ host: this.world.hosts[0], ...this.world.machine, ...wanted });
  }
  /** Starts such a machine. */
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

/** Returns a number that is stable per machine and unique among a few hundred. */
function numberOf(id: string): number {
  const number = numbers.get(id) ?? numbers.size;
  numbers.set(id, number);
  return 10 + (number % 240);
}

/** Returns the spec of a small machine with its own documentation addresses. */
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

/** Asserts that the call fails with this kind of ComputeError. */
export async function failsAs(fault: ComputeFault, call: Promise<unknown>, says = /./): Promise<void> {
  await assert.rejects(
    call,
    (error) => error instanceof ComputeError && error.fault === fault && says.test(error.message),
  );
}

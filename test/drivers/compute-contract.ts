/** What every compute driver must do, whatever it drives. Called from each driver's own test file. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type ComputeDriver,
  ComputeError,
  type ComputeFault,
  type MachineSpec,
  type MachineState,
} from '../../src/ports/compute.ts';

export interface ComputeWorld {
  readonly driver: ComputeDriver;
  /** Two hosts, each with room for four machines of `machineSpec`. */
  readonly hosts: readonly [string, string];
  /** Lets time pass until the machine is in this state; throws when it does not get there. */
  until(id: string, state: MachineState['state']): Promise<void>;
  close(): Promise<void>;
}

/** A small machine. The addresses are from the ranges kept for documents. */
export function machineSpec(wanted: Pick<MachineSpec, 'id' | 'host'> & Partial<MachineSpec>): MachineSpec {
  return {
    generation: 1,
    hostname: 'web-1',
    cpu: 1,
    ramMb: 512,
    diskGb: 4,
    image: { id: 'img_debian', family: 'debian', version: '12', cloudInit: true, iso: null },
    ipv4: { address: '192.0.2.10', gateway: '192.0.2.1' },
    ipv6: { address: '2001:db8:0:10::1', prefix: '2001:db8:0:10::/64' },
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

export function computeContract(name: string, make: () => Promise<ComputeWorld>): void {
  describe(`${name} keeps the compute contract`, () => {
    let world: ComputeWorld;
    let made = 0;
    before(async () => {
      world = await make();
    });
    after(() => world.close());

    /** A machine on the first host, running; removed when the test ends. */
    async function running(t: { after(undo: () => Promise<void>): void }): Promise<string> {
      const id = fresh(t);
      await world.driver.ensure(machineSpec({ id, host: world.hosts[0] }));
      await world.until(id, 'running');
      return id;
    }
    function fresh(t: { after(undo: () => Promise<void>): void }): string {
      const id = `contract-${made++}`;
      t.after(() => world.driver.remove(id));
      return id;
    }
    async function stateOf(id: string): Promise<MachineState | undefined> {
      const [seen, ...others] = await world.driver.observe([id]);
      assert.equal(others.length, 0);
      return seen;
    }

    it('a machine installs on its host, then runs there', async (t) => {
      const id = fresh(t);
      const host = world.hosts[0];
      assert.deepEqual(await stateOf(id), {
        id,
        host: null,
        state: 'absent',
        generation: null,
        rescue: false,
      });
      await world.driver.ensure(machineSpec({ id, host }));
      assert.deepEqual(await stateOf(id), { id, host, state: 'installing', generation: 1, rescue: false });
      await world.until(id, 'running');
      assert.deepEqual(await stateOf(id), { id, host, state: 'running', generation: 1, rescue: false });
    });

    it('the same id twice is one machine, and what runs is left alone', async (t) => {
      const id = await running(t);
      await world.driver.ensure(machineSpec({ id, host: world.hosts[0] }));
      assert.equal((await stateOf(id))?.state, 'running');
      await world.driver.remove(id);
      assert.equal((await stateOf(id))?.state, 'absent');
    });

    it('a host nobody knows is a fault of the host', async (t) => {
      await failsAs('host', world.driver.ensure(machineSpec({ id: fresh(t), host: 'nowhere' })));
    });

    it('a machine that lives on one host is refused on another until it is removed', async (t) => {
      const id = await running(t);
      const [first, second] = world.hosts;
      await failsAs('refused', world.driver.ensure(machineSpec({ id, host: second })));
      assert.deepEqual(await stateOf(id), {
        id,
        host: first,
        state: 'running',
        generation: 1,
        rescue: false,
      });
      await world.driver.remove(id);
      await world.driver.ensure(machineSpec({ id, host: second }));
      assert.equal((await stateOf(id))?.host, second);
    });

    it('removing is done once and may be asked for ever', async (t) => {
      const id = await running(t);
      await world.driver.remove(id);
      await world.driver.remove(id);
      await world.driver.remove('never-made');
      assert.deepEqual(await stateOf(id), {
        id,
        host: null,
        state: 'absent',
        generation: null,
        rescue: false,
      });
    });

    it('power off stops a machine, power on starts it, and each may be repeated', async (t) => {
      const id = await running(t);
      await world.driver.power(id, 'on');
      for (const _ of ['once', 'again']) {
        await world.driver.power(id, 'off');
        await world.until(id, 'stopped');
      }
      for (const _ of ['once', 'again']) {
        await world.driver.power(id, 'on');
        await world.until(id, 'running');
      }
    });

    it('a guest that is asked to shut down does so in its own time', async (t) => {
      const id = await running(t);
      await world.driver.power(id, 'acpi');
      await world.until(id, 'stopped');
      await world.driver.ensure(machineSpec({ id, host: world.hosts[0] }));
      assert.equal((await stateOf(id))?.state, 'stopped');
    });

    it('a reset machine runs again', async (t) => {
      const id = await running(t);
      await world.driver.power(id, 'reset');
      await world.until(id, 'running');
    });

    it('an absent machine has no power button', async () => {
      for (const action of ['on', 'off', 'acpi', 'reset'] as const) {
        await failsAs('refused', world.driver.power('never-made', action));
      }
    });

    it('machines are observed in the order asked, absent ones and repeats included', async (t) => {
      const one = await running(t);
      const two = fresh(t);
      await world.driver.ensure(machineSpec({ id: two, host: world.hosts[1] }));
      const asked = [two, 'never-made', one, two];
      const seen = await world.driver.observe(asked);
      assert.deepEqual(
        seen.map((machine) => [machine.id, machine.host]),
        [
          [two, world.hosts[1]],
          ['never-made', null],
          [one, world.hosts[0]],
          [two, world.hosts[1]],
        ],
      );
      assert.deepEqual(await world.driver.observe([]), []);
    });
  });
}

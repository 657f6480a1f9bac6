/** One region with three hosts for three, two, and one servers, and a customer with a hundred dollars. */
import assert from 'node:assert/strict';
import type { ScopedActor } from '../../../src/domain/context.ts';
import { deploy } from '../../../src/domain/servers/deploy/deploy.ts';
import type { DeployOrder } from '../../../src/domain/servers/deploy/prepare.ts';
import type { SimulatedMachine } from '../../../src/drivers/compute/simulator/control.ts';
import { formatId, newId } from '../../../src/kernel/ids.ts';
import { readBalance } from '../../../src/store/ledger/ledger.ts';
import { findServer, type ServerRow } from '../../../src/store/servers/servers.ts';
import { R1, S1 } from '../../support/fixtures.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

export const BALANCE = 10_000n;
const ADDRESSES = 5;

export class RegionWorld {
  readonly world: TestService;
  hosts: readonly string[] = [];
  #actor: ScopedActor;
  #regions = 0;

  private constructor(world: TestService, actor: ScopedActor) {
    this.world = world;
    this.#actor = actor;
  }

  static async open(options?: Parameters<typeof startTestService>[0]): Promise<RegionWorld> {
    const world = await startTestService(options);
    return new RegionWorld(world, await world.fixtures.addCustomer());
  }

  /** Creates a new region and customer, so that tests stay independent. Hosts are chosen at random. */
  async reset(rooms: readonly number[] = [3, 2, 1]): Promise<void> {
    const { fixtures } = this.world;
    this.#regions += 1;
    await fixtures.addPlans([this.regionId], [S1, R1]);
    this.hosts = await fixtures.addHosts(rooms, this.regionId);
    await fixtures.addAddresses(ADDRESSES, ADDRESSES, this.regionId);
    this.#actor = await fixtures.addCustomer(BALANCE);
  }

  get regionId(): string {
    return `x${this.#regions}`;
  }

  get actor(): ScopedActor {
    return this.#actor;
  }

  get customerId(): string {
    return this.#actor.customerId;
  }

  /** Orders a server and advances the clock a second, so that the order of events is visible. */
  async order(wanted: Partial<DeployOrder> = {}): Promise<string> {
    const order = this.world.fixtures.buildOrder({ regionId: this.regionId, ...wanted });
    const { server } = await deploy(this.world.service, this.#actor, order);
    this.world.clock.advanceS(1);
    return server.id;
  }

  /** Orders a server and waits until it runs; returns its stored and its public id. */
  async running(wanted: Partial<DeployOrder> = {}): Promise<{ id: string; shown: string }> {
    const id = await this.order(wanted);
    await this.world.runUntilIdle();
    this.world.clock.advanceS(1);
    return { id, shown: formatId('server', id) };
  }

  /** Adds an SSH key of this customer, or of another one. */
  async sshKey(publicKey: string, customerId = this.customerId): Promise<{ id: string; shown: string }> {
    const id = newId(this.world.clock.now());
    await this.world.db.run(
      `insert into ssh_keys (id, customer_id, name, type, fingerprint, public_key, created_at)
       values ($1, $2, 'key', 'ssh-ed25519', 'SHA256:x', $3, $4)`,
      [id, customerId, publicKey, this.world.clock.now()],
    );
    return { id, shown: formatId('sshKey', id) };
  }

  /** Runs due work once, without moving the clock. */
  async runDueWork(): Promise<void> {
    assert.ok(await this.world.runner.runDue(performance.now() + 10_000), 'due work did not finish');
  }

  async server(id: string): Promise<ServerRow> {
    const server = await findServer(this.world.db, id);
    assert.ok(server, 'the server does not exist');
    return server;
  }

  async isGone(id: string): Promise<boolean> {
    return (await findServer(this.world.db, id)) === undefined;
  }

  /** The machine's actual state. */
  async machine(id: string): Promise<SimulatedMachine | undefined> {
    return (await this.world.simulator.machines()).find((each) => each.id === id);
  }

  async balance(): Promise<bigint> {
    return await readBalance(this.world.db, this.customerId);
  }

  /** The number of servers counted on each of the region's hosts that has any. */
  async usedHosts(): Promise<Record<string, number>> {
    const rows = await this.world.db.rows<{ name: string; n: number }>(
      'select name, used_ram_mb / $2::int as n from hosts where region_id = $1 and used_ram_mb > 0',
      [this.regionId, S1.ram_mb],
    );
    return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
  }

  /** Addresses and /64s that a deploy could use now. */
  async freeAddresses(): Promise<{ four: number; six: number }> {
    const count = (table: string) =>
      `(select count(*)::int from ${table}
         where region_id = $1 and server_id is null and free_from <= $2)`;
    const row = await this.world.db.row<{ four: number; six: number }>(
      `select ${count('ipv4_addresses')} as four, ${count('ipv6_prefixes')} as six`,
      [this.regionId, this.world.clock.now()],
    );
    assert.ok(row);
    return row;
  }

  async events(): Promise<string[]> {
    return await this.world.eventTypes(this.customerId);
  }

  /** Actions and results in the customer's audit log, oldest first. */
  async auditedActions(): Promise<string[]> {
    const rows = await this.world.db.rows<{ action: string }>(
      `select action || ' ' || result as action from audit_events where customer_id = $1
        order by created_at, action`,
      [this.customerId],
    );
    return rows.map(({ action }) => action);
  }
}

/**
 * A service with an in-memory DNS server. Each test has a running server in a region with one address and
 * one /64.
 */
import assert from 'node:assert/strict';
import type { CustomerActor, Service } from '../../../src/domain/context.ts';
import { nameFindings } from '../../../src/domain/dns/ensure.ts';
import { deploy } from '../../../src/domain/servers/deploy/deploy.ts';
import { destroyServer } from '../../../src/domain/servers/operations/destroy.ts';
import { setRdns } from '../../../src/domain/servers/rdns.ts';
import { formatId } from '../../../src/kernel/ids.ts';
import type { RdnsBody, Server } from '../../../src/spec/schemas/server.ts';
import { findServer, type ServerRow } from '../../../src/store/servers/servers.ts';
import { operateJob } from '../../../src/workers/operate.ts';
import { ScriptedDns } from '../../support/scripted-dns.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

export const V4_ZONE = '10.in-addr.arpa.';
const V6_ZONE = '8.b.d.0.1.0.0.2.ip6.arpa.';

export class DnsWorld {
  readonly dns: ScriptedDns;
  readonly world: TestService;
  #regions = 0;
  #actor: CustomerActor | undefined;
  #server: ServerRow | undefined;

  private constructor(dns: ScriptedDns, world: TestService) {
    this.dns = dns;
    this.world = world;
  }

  static async open(): Promise<DnsWorld> {
    const dns = new ScriptedDns([]);
    return new DnsWorld(dns, await startTestService({ dns }));
  }

  async reset(): Promise<void> {
    const { dns, world } = this;
    await this.work();
    dns.fault = null;
    dns.beforeSet = async () => undefined;
    dns.names.clear();
    dns.zoneNames.splice(0, Number.POSITIVE_INFINITY, V4_ZONE, V6_ZONE);
    this.#regions += 1;
    await world.fixtures.addPlans([this.regionId]);
    await world.fixtures.addHosts([5], this.regionId);
    await world.fixtures.addAddresses(1, 1, this.regionId);
    this.#actor = await world.fixtures.addCustomer(100_000n);
    await this.running();
  }

  get regionId(): string {
    return `x${this.#regions}`;
  }

  get server(): ServerRow {
    return this.#server ?? assert.fail('there is no server yet');
  }

  get id(): string {
    return this.server.id;
  }

  get ipv4(): string {
    return this.server.ipv4 ?? '';
  }

  /** Returns an address of the /64. */
  inPrefix(last: string): string {
    return (this.server.ipv6_prefix ?? '').replace('/64', last);
  }

  /** Deploys a server, which replaces the previous one. */
  async running(): Promise<void> {
    const order = this.world.fixtures.buildOrder({ regionId: this.regionId });
    const { server } = await deploy(this.world.service, this.#customer(), order);
    await this.work(5_000);
    this.#server = await findServer(this.world.db, server.id);
    assert.equal(this.server.status, 'running');
  }

  /** Runs work that is due now or within the given milliseconds. */
  async work(moreMs = 0): Promise<void> {
    for (let left = moreMs; ; left -= 500) {
      assert.ok(await this.world.runner.runDue(performance.now() + 20_000));
      if (left <= 0) return;
      this.world.clock.advanceS(0.5);
    }
  }

  async setNames(body: RdnsBody, service: Service = this.world.service): Promise<Server> {
    return await setRdns(service, this.#customer(), formatId('server', this.id), body);
  }

  async destroy(): Promise<void> {
    await destroyServer(this.world.service, this.#customer(), formatId('server', this.id));
  }

  /** Waits until the row of the server is deleted, without running tasks. */
  async waitUntilRemoved(): Promise<void> {
    const job = operateJob(this.world.service);
    for (let round = 0; await findServer(this.world.db, this.id); round++) {
      assert.ok(round < 50, 'the server is not removed');
      await job.run();
      this.world.clock.advanceS(0.5);
    }
  }

  /** Returns the names of this server's addresses. */
  servedNames(): Record<string, string> {
    const isOurs = (address: string) => address === this.ipv4 || address.startsWith(this.inPrefix(''));
    return Object.fromEntries([...this.dns.names].filter(([address]) => isOurs(address)));
  }

  async rows(): Promise<unknown[]> {
    return await this.world.db.rows('select host from published_rdns where server_id = $1', [this.id]);
  }

  async tasks(): Promise<number> {
    return (await this.world.db.rows(`select from tasks where kind = 'rdns'`)).length;
  }

  async findingMessages(): Promise<string[]> {
    return (await nameFindings(this.world.service)).map(({ message }) => message);
  }

  /** Returns when the address and the /64 of the region become free. */
  async freeFrom(): Promise<{ four: string; six: string }> {
    const row = await this.world.db.row<{ four: string; six: string }>(
      `select (select free_from from ipv4_addresses where region_id = $1)::text as four,
              (select free_from from ipv6_prefixes where region_id = $1)::text as six`,
      [this.regionId],
    );
    return row ?? assert.fail('no addresses');
  }

  #customer(): CustomerActor {
    return this.#actor ?? assert.fail('there is no customer yet');
  }
}

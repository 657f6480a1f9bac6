/** A region of which one host with servers is lost. */
import assert from 'node:assert/strict';
import { loseHost } from '../../../../src/domain/inventory/lost-hosts.ts';
import { attachVolume } from '../../../../src/domain/volumes/attach.ts';
import { createVolume } from '../../../../src/domain/volumes/change.ts';
import { parseId } from '../../../../src/kernel/ids.ts';
import type { LostServers } from '../../../../src/spec/states.ts';
import { findLossOfServer } from '../../../../src/store/inventory/lost-hosts.ts';
import { findVolume, type VolumeRow } from '../../../../src/store/volumes/volumes.ts';
import { RegionWorld } from '../region-world.ts';

export class LostWorld {
  readonly region: RegionWorld;

  private constructor(region: RegionWorld) {
    this.region = region;
  }

  static async open(): Promise<LostWorld> {
    return new LostWorld(await RegionWorld.open());
  }

  get world() {
    return this.region.world;
  }

  /** The name of the host that has the server's machine. */
  async hostOf(id: string): Promise<string> {
    return (await this.region.machine(id))?.host ?? assert.fail('no machine');
  }

  /** The host vanishes, and the operator gives it up. */
  async lose(name: string, servers: LostServers): Promise<void> {
    await this.world.simulator.loseHost(name);
    await loseHost(this.world.service, name, servers);
  }

  /** Works until all servers of lost hosts are settled; a server under a legal hold never is. */
  async workUntil(reached: () => Promise<boolean>): Promise<void> {
    for (let round = 0; round < 500; round++) {
      await this.region.runDueWork();
      if (await reached()) return;
      const next = await this.world.runner.nextDue();
      if (next !== null && next > this.world.clock.now()) this.world.clock.moveTo(next);
      else this.world.clock.advanceS(0.5);
    }
    assert.fail('the condition does not hold');
  }

  async isOnLostHost(id: string): Promise<boolean> {
    return (await findLossOfServer(this.world.db, id)) !== undefined;
  }

  /** Attaches a new volume and returns its public id. */
  async attachedVolume(server: string): Promise<string> {
    const { service } = this.world;
    const body = { name: 'data', size_gb: 10, region: this.region.regionId };
    const { id } = await createVolume(service, this.region.actor, body);
    await attachVolume(service, this.region.actor, id, { server });
    await this.world.runUntilIdle();
    return id;
  }

  async volume(shown: string): Promise<VolumeRow> {
    const id = parseId('volume', shown) ?? assert.fail(shown);
    return (await findVolume(this.world.db, this.region.customerId, id)) ?? assert.fail('no volume');
  }

  /** Gives each host of the region a backend of the same name, as real ones have. */
  async addBackends(): Promise<void> {
    for (const name of this.region.hosts) {
      await this.world.db.run(
        `insert into backends (name, kind, address, fingerprint, region_id, state, created_at)
         values ($1, 'host', 'host.example:7443', repeat('ab', 32), $2, 'active', $3)`,
        [name, this.region.regionId, this.world.clock.now()],
      );
      await this.world.db.run('update hosts set backend = $1 where name = $1', [name]);
    }
  }

  /** Addresses and /64s that the server has, according to the address history. */
  async assigned(serverId: string): Promise<string[]> {
    const rows = await this.world.db.rows<{ address: string }>(
      'select address::text from address_assignments where server_id = $1 and released_at is null',
      [serverId],
    );
    return rows.map(({ address }) => address).sort();
  }

  /** Addresses and /64s that a lost host holds. */
  async heldAddresses(): Promise<number> {
    const row = await this.world.db.row<{ n: number }>(
      `select ((select count(*) from ipv4_addresses where held_by is not null and region_id = $1)
             + (select count(*) from ipv6_prefixes where held_by is not null and region_id = $1))::int as n`,
      [this.region.regionId],
    );
    return row?.n ?? 0;
  }
}

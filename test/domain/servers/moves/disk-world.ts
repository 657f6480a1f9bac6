/** A region whose hosts have volumes and snapshots that move. */
import assert from 'node:assert/strict';
import { moveEverythingOff } from '../../../../src/domain/servers/moves/queue.ts';
import { destroyServer } from '../../../../src/domain/servers/operations/destroy.ts';
import { createSnapshot } from '../../../../src/domain/snapshots/change.ts';
import { attachVolume, detachVolume } from '../../../../src/domain/volumes/attach.ts';
import { createVolume } from '../../../../src/domain/volumes/change.ts';
import { parseId } from '../../../../src/kernel/ids.ts';
import { findMove, listMoves, type MoveRow } from '../../../../src/store/servers/moves.ts';
import type { TestService } from '../../../support/test-service.ts';
import { RegionWorld } from '../region-world.ts';

export type DiskKind = 'volume' | 'snapshot';

export interface Disks {
  /** Public ids. */
  readonly server: string;
  readonly volume: string;
  readonly snapshot: string;
  readonly volumeId: string;
  readonly snapshotId: string;
  /** The host that has them. */
  readonly from: string;
}

export class DiskWorld {
  readonly region: RegionWorld;
  readonly world: TestService;

  private constructor(region: RegionWorld) {
    this.region = region;
    this.world = region.world;
  }

  static async open(): Promise<DiskWorld> {
    return new DiskWorld(await RegionWorld.open());
  }

  async moveOf(id: string): Promise<MoveRow | undefined> {
    return await findMove(this.world.db, id);
  }

  /** A server with a snapshot, and a volume that was detached from it. */
  async makeDisks(): Promise<Disks> {
    const { world } = this;
    const { service } = world;
    const { id, shown: server } = await this.region.running();
    const fields = { name: 'data', size_gb: 10, region: this.region.regionId };
    const { id: volume } = await createVolume(service, this.region.actor, fields);
    await attachVolume(service, this.region.actor, volume, { server });
    await world.runUntilIdle();
    await detachVolume(service, this.region.actor, volume);
    const { id: snapshot } = await createSnapshot(service, this.region.actor, server, {});
    await world.runUntilIdle();
    const from = (await this.region.machine(id))?.host ?? assert.fail('no machine');
    const volumeId = parseId('volume', volume) ?? assert.fail(volume);
    const snapshotId = parseId('snapshot', snapshot) ?? assert.fail(snapshot);
    return { server, volume, snapshot, volumeId, snapshotId, from };
  }

  /** Without their server, which leaves a host that is drained first. */
  async makeLoneDisks(): Promise<Disks> {
    const disks = await this.makeDisks();
    await destroyServer(this.world.service, this.region.actor, disks.server);
    await this.world.runUntilIdle();
    return disks;
  }

  /** Where the driver has it, and where the service does. */
  async hostsOf(kind: DiskKind, id: string): Promise<(string | null | undefined)[]> {
    const seen = await (kind === 'volume'
      ? this.world.simulator.volumes()
      : this.world.simulator.snapshots());
    const row = await this.world.db.row<{ name: string }>(
      `select h.name from ${kind}s d join hosts h on h.id = d.host_id where d.id = $1`,
      [id],
    );
    return [seen.find((each) => each.id === id)?.host, row?.name];
  }

  async oneHostOf(kind: DiskKind, id: string): Promise<string> {
    const [driver, service] = await this.hostsOf(kind, id);
    assert.equal(driver, service);
    return driver ?? assert.fail(`the ${kind} is nowhere`);
  }

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

  /** Nothing moves. */
  async isQuiet(): Promise<boolean> {
    return (await listMoves(this.world.db, { host: null, limit: 10 })).length === 0;
  }

  /** Drains the host, and waits until the copy is under way. */
  async startCopy(from: string, id: string): Promise<void> {
    await moveEverythingOff(this.world.service, from, 4);
    await this.workUntil(async () => ((await this.moveOf(id))?.total_bytes ?? 0n) > 0n);
  }

  async failing(call: string, times: number): Promise<void> {
    await this.world.faults.set({ driver: 'compute', operation: `moves.${call}`, times });
  }

  /** The end of both sides of each move of the volume or snapshot. */
  async sidesOf(id: string): Promise<string[]> {
    const moves = await this.world.simulator.diskMoves();
    return moves.filter(({ diskId }) => diskId === id).map(({ source, target }) => `${source} ${target}`);
  }
}

/** A server in a region whose plans are two and three times as large as s1. */
import assert from 'node:assert/strict';
import { resizeServer } from '../../../../src/domain/servers/resize/resize.ts';
import { Failure } from '../../../../src/kernel/fail.ts';
import type { Server } from '../../../../src/spec/schemas/server.ts';
import type { ResizeBody } from '../../../../src/spec/schemas/server-actions.ts';
import type { TransferType } from '../../../../src/store/ledger/ledger.ts';
import type { ServerRow } from '../../../../src/store/servers/servers.ts';
import { S1, type TestPlan } from '../../../support/fixtures.ts';
import { RegionWorld } from '../region-world.ts';

export const S2: TestPlan = { ...S1, id: 's2', ram_mb: 2048, disk_gb: 20, price_cents_month: 1000n };
export const S3: TestPlan = { ...S1, id: 's3', ram_mb: 3072, disk_gb: 30, price_cents_month: 1500n };

export interface BookedEntry {
  readonly type: TransferType;
  readonly cents: bigint;
}

export class ResizeWorld {
  readonly region: RegionWorld;
  id = '';
  shown = '';

  private constructor(region: RegionWorld) {
    this.region = region;
  }

  static async open(): Promise<ResizeWorld> {
    return new ResizeWorld(await RegionWorld.open());
  }

  get world(): RegionWorld['world'] {
    return this.region.world;
  }

  /** Creates a region with such hosts, each with room for s2 by default, and a server on s1 that runs. */
  async reset(rooms: readonly number[] = [3, 2]): Promise<void> {
    await this.region.reset(rooms);
    await this.world.fixtures.addPlans([this.region.regionId], [S2, S3]);
    const { db } = this.world;
    for (const { id, price_cents_month: cents } of [S1, S2, S3])
      await db.run('update plans set price_cents_month = $2, active = true where id = $1', [id, cents]);
    ({ id: this.id, shown: this.shown } = await this.region.running());
  }

  async server(): Promise<ServerRow> {
    return await this.region.server(this.id);
  }

  async resize(body: ResizeBody): Promise<Server> {
    return await resizeServer(this.world.service, this.region.actor, this.shown, body);
  }

  async resized(body: ResizeBody): Promise<void> {
    await this.resize({ restart: true, ...body });
    await this.world.runUntilIdle();
  }

  /** Returns what the machine has: MiB, GiB, its state. */
  async machine(): Promise<[number | undefined, number | undefined, string | undefined]> {
    const machine = await this.region.machine(this.id);
    return [machine?.ramMb, machine?.diskGb, machine?.state];
  }

  /** Entries of the server after its order, oldest first. */
  async booked(): Promise<BookedEntry[]> {
    const rows = await this.world.db.rows<BookedEntry>(
      `select type, amount_cents as cents from transfers where resource_id = $1 order by booked_at offset 1`,
      [this.id],
    );
    return rows.map(({ type, cents }) => ({ type, cents }));
  }

  /** Events after the first run. */
  async events(): Promise<string[]> {
    return (await this.region.events()).slice(3);
  }

  async hostOf(): Promise<string> {
    return (await this.region.machine(this.id))?.host ?? assert.fail('no machine');
  }
}

export async function refused(work: Promise<unknown>): Promise<[string, string | undefined]> {
  return await work.then(
    () => assert.fail('the request succeeded'),
    (error: unknown) => {
      assert.ok(error instanceof Failure, String(error));
      const { field } = error.extras;
      return [error.code, field === undefined ? undefined : String(field)];
    },
  );
}

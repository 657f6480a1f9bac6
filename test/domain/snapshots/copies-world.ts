/** The real app with a real S3 server and simulated hosts: a customer with servers and snapshots. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { loseHost } from '../../../src/domain/inventory/lost-hosts.ts';
import { parseId } from '../../../src/kernel/ids.ts';
import { Radosgw } from '../../support/radosgw.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';

const WAIT_MS = 60_000;

export interface CopyRow {
  readonly stored: boolean;
  readonly settled: boolean;
  readonly attempts: number;
  readonly last_fault: string | null;
  readonly size_bytes: bigint | null;
}

export class CopiesWorld {
  readonly store: Radosgw;
  readonly world: World;
  readonly api: V1Client;
  #plan = '';

  private constructor(store: Radosgw, world: World, api: V1Client) {
    this.store = store;
    this.world = world;
    this.api = api;
  }

  static async open(settings: Readonly<Record<string, string>> = {}): Promise<CopiesWorld> {
    const store = await Radosgw.start();
    const world = await startWorld({ ...store.env, SKERRY_S3_SNAPSHOTS: 'true', ...settings });
    const api = V1Client.forUrl(world.url, await createApiToken(await world.customer(900)));
    return new CopiesWorld(store, world, api);
  }

  async close(): Promise<void> {
    await this.world?.close();
    await this.store?.close();
  }

  get service() {
    return this.world.opened.service;
  }

  /** Orders the smallest server of the first region, or creates it from a snapshot, and waits for it. */
  async server(image?: string): Promise<{ readonly shown: string; readonly host: string }> {
    const { data: plans } = (await this.api.get('/plans')).body;
    const { data: images } = (await this.api.get('/images?type=official')).body;
    const plan = plans.find(({ category }: { category: string }) => category === 'vps');
    this.#plan ||= plan.id;
    const { status, body } = await this.api.post('/servers', {
      ...{ plan: this.#plan, region: plan.regions[0], image: image ?? images[0].id, billing_months: 1 },
    });
    assert.equal(status, 201, JSON.stringify(body));
    const shown: string = body.id;
    await this.eventually(async () => (await this.statusOf(shown)) === 'running');
    return { shown, host: await this.hostOf(shown) };
  }

  async statusOf(server: string): Promise<string> {
    return (await this.api.get(`/servers/${server}`)).body.status;
  }

  async hostOf(server: string): Promise<string> {
    const id = parseId('server', server) ?? assert.fail(server);
    return (await this.world.simulator.findMachine(id))?.host ?? assert.fail('no machine');
  }

  /** Takes a snapshot and waits until it is ready. */
  async snapshot(server: string): Promise<string> {
    const { status, body } = await this.api.post(`/servers/${server}/snapshots`, {});
    assert.equal(status, 201, JSON.stringify(body));
    await this.eventually(async () => (await this.snapshotStatus(body.id)) === 'ready');
    return body.id;
  }

  async snapshotStatus(shown: string): Promise<string | undefined> {
    return (await this.api.get(`/snapshots/${shown}`)).body.status;
  }

  async copy(shown: string): Promise<CopyRow | undefined> {
    return await this.service.db.row<CopyRow>(
      `select stored_at is not null as stored, due_at is null as settled, attempts, last_fault, size_bytes
         from snapshot_copies where snapshot_id = $1`,
      [snapshotId(shown)],
    );
  }

  async copied(shown: string): Promise<void> {
    await this.eventually(async () => (await this.copy(shown))?.settled ?? false);
    assert.equal((await this.copy(shown))?.stored, true);
  }

  /** The names in the bucket that end with the id of the snapshot. */
  async stored(shown: string): Promise<string[]> {
    return (await this.store.list()).filter((name) => name.endsWith(snapshotId(shown)));
  }

  /** The host vanishes, and the operator gives it up. */
  async lose(host: string): Promise<void> {
    await this.world.simulator.loseHost(host);
    await loseHost(this.service, host, 'rebuild');
  }

  async eventually(isTrue: () => Promise<boolean>): Promise<void> {
    const until = performance.now() + WAIT_MS;
    while (!(await isTrue())) {
      assert.ok(performance.now() < until, 'it did not happen');
      // Installs and snapshots take business time.
      await this.world.advance(1);
      await pause(50);
    }
  }
}

export function snapshotId(shown: string): string {
  return parseId('snapshot', shown) ?? assert.fail(shown);
}

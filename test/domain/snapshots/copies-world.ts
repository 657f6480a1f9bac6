/** The real app with a real S3 server and simulated hosts: a customer with servers and snapshots. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { loseHost } from '../../../src/domain/inventory/lost-hosts.ts';
import { verify } from '../../../src/domain/verify/verify.ts';
import { parseId } from '../../../src/kernel/ids.ts';
import type { OpenService } from '../../../src/operator/context.ts';
import { NO_RATES, PUBLIC_KEY } from '../../http/v1/contract/estate.ts';
import { runCommand } from '../../operator/operator-fixture.ts';
import { Radosgw } from '../../support/radosgw.ts';
import { createApiToken, type JsonBody, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';

const WAIT_MS = 60_000;

export interface CopyRow {
  readonly stored: boolean;
  readonly settled: boolean;
  readonly attempts: number;
  readonly last_fault: string | null;
  readonly size_bytes: bigint | null;
  readonly fetching: boolean;
  readonly prepared: boolean;
}

export class CopiesWorld {
  readonly store: Radosgw;
  readonly world: World;
  readonly api: V1Client;
  readonly #key: string;
  readonly #image: string;

  private constructor(
    store: Radosgw,
    world: World,
    customer: { readonly api: V1Client; readonly key: string; readonly image: string },
  ) {
    this.store = store;
    this.world = world;
    this.api = customer.api;
    this.#key = customer.key;
    this.#image = customer.image;
  }

  static async open(settings: Readonly<Record<string, string>> = {}): Promise<CopiesWorld> {
    const store = await Radosgw.start();
    const env = { ...store.env, SKERRY_S3_SNAPSHOTS: 'true', ...NO_RATES, ...settings };
    const world = await startWorld(env);
    const api = V1Client.forUrl(world.url, await createApiToken(await world.customer(190)));
    const { id: key } = (await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY })).body;
    const images = (await api.get('/images?family=debian')).body.data as JsonBody[];
    const image = images.find(({ deprecated_at }) => deprecated_at === null)?.id;
    return new CopiesWorld(store, world, { api, key, image });
  }

  async close(): Promise<void> {
    await this.world?.close();
    await this.store?.close();
  }

  get service() {
    return this.world.opened.service;
  }

  /** Orders a server in a region with several hosts, or creates it from a snapshot, and waits for it. */
  async server(image?: string): Promise<{ readonly shown: string; readonly host: string }> {
    const shown = await this.order(image ?? this.#image);
    await this.eventually(async () => (await this.statusOf(shown)) === 'running');
    return { shown, host: (await this.hostOf(shown)) ?? assert.fail('no machine') };
  }

  async order(image: string): Promise<string> {
    const { status, text, body } = await this.api.post('/servers', {
      ...{ name: 'web', plan: 's1', region: 'par', ssh_keys: [this.#key], image },
    });
    assert.equal(status, 201, text);
    return body.id;
  }

  async statusOf(server: string): Promise<string> {
    return (await this.api.get(`/servers/${server}`)).body.status;
  }

  async hostOf(server: string): Promise<string | undefined> {
    const id = parseId('server', server) ?? assert.fail(server);
    return (await this.world.simulator.machines()).find((each) => each.id === id)?.host;
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
      `select stored_at is not null as stored, due_at is null as settled, attempts, last_fault, size_bytes,
              fetched_by is not null as fetching, prepared_at is not null as prepared
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

  async hostOfSnapshot(shown: string): Promise<string | null> {
    const row = await this.service.db.row<{ name: string }>(
      'select h.name from snapshots n join hosts h on h.id = n.host_id where n.id = $1',
      [snapshotId(shown)],
    );
    return row?.name ?? null;
  }

  async assertVerified(): Promise<void> {
    const broken = (await verify(this.service)).filter((result) => result.broken > 0n);
    assert.deepEqual(
      broken.map(({ invariant, examples }) => [invariant.name, examples]),
      [],
    );
  }

  /** The id of the database, which is in the names of all objects. */
  async database(): Promise<string> {
    const row = await this.service.db.row<{ incarnation: string }>('select incarnation from service');
    return row?.incarnation ?? assert.fail('no service row');
  }

  async operator(...argv: string[]) {
    const { service } = this;
    const open = { service, register: async () => undefined, carryOut: async () => undefined, coins: null };
    return await runCommand(open as unknown as OpenService, argv);
  }

  /** Tries what has failed again at once. */
  async retryNow(): Promise<void> {
    await this.service.db.run(
      'update snapshot_copies set due_at = clock_timestamp() where due_at is not null',
    );
  }

  /** The host of the server vanishes, and the operator gives it up. Waits until the server runs elsewhere. */
  async lose({ shown, host }: { readonly shown: string; readonly host: string }): Promise<void> {
    await this.world.simulator.loseHost(host);
    await loseHost(this.service, host, 'rebuild');
    await this.eventually(async () => {
      const now = await this.hostOf(shown);
      return now !== undefined && now !== host && (await this.statusOf(shown)) === 'running';
    });
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

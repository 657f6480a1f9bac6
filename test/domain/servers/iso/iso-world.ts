/** A server that runs, and images of its customer. */
import assert from 'node:assert/strict';
import { ejectIso, insertIso } from '../../../../src/domain/servers/iso/change.ts';
import { patchServer } from '../../../../src/domain/servers/update.ts';
import { formatId, newId } from '../../../../src/kernel/ids.ts';
import type { BootOrder } from '../../../../src/spec/boot.ts';
import type { Server } from '../../../../src/spec/schemas/server.ts';
import type { ServerRow } from '../../../../src/store/servers/servers.ts';
import { RegionWorld } from '../region-world.ts';

export interface TestImage {
  readonly id: string;
  readonly shown: string;
  readonly sha256: string;
}

export class IsoWorld {
  readonly region: RegionWorld;
  id = '';
  shown = '';

  private constructor(region: RegionWorld) {
    this.region = region;
  }

  static async open(): Promise<IsoWorld> {
    return new IsoWorld(await RegionWorld.open());
  }

  get world(): RegionWorld['world'] {
    return this.region.world;
  }

  /** Creates a region with such hosts, and a server that runs. */
  async reset(rooms?: readonly number[]): Promise<void> {
    await this.region.reset(rooms);
    ({ id: this.id, shown: this.shown } = await this.region.running());
  }

  async image(customerId = this.region.customerId): Promise<TestImage> {
    const id = newId(this.world.clock.now());
    const sha256 = id.replaceAll('-', '').padEnd(64, '0');
    await this.world.db.run(
      `insert into images (id, type, family, version, arch, size_gb, cloud_init, released_at, customer_id,
                           name, sha256, blob_key, size_bytes)
       values ($1, 'custom', 'custom', '1', '{amd64}', 1, false, '2025-01-01', $2, 'mine', $3, $1, 1)`,
      [id, customerId, sha256],
    );
    return { id, shown: formatId('customImage', id), sha256 };
  }

  async insert({ shown }: Pick<TestImage, 'shown'>): Promise<Server> {
    return await insertIso(this.world.service, this.region.actor, this.shown, { image: shown });
  }

  async inserted(image = this.image()): Promise<TestImage> {
    const made = await image;
    await this.insert(made);
    await this.done();
    return made;
  }

  /** Waits for the work, and a second, so that the order of events is visible. */
  async done(): Promise<void> {
    await this.world.runUntilIdle();
    this.world.clock.advanceS(1);
  }

  async eject(): Promise<Server> {
    return await ejectIso(this.world.service, this.region.actor, this.shown);
  }

  async boot(boot: BootOrder): Promise<Server> {
    return await patchServer(this.world.service, this.region.actor, this.shown, { boot });
  }

  async server(): Promise<ServerRow> {
    return await this.region.server(this.id);
  }

  /** Returns what the machine has in its drive, and what it boots first. */
  async drive(): Promise<[string | null, BootOrder]> {
    const { isoSha256, boot } = (await this.region.machine(this.id)) ?? assert.fail('no machine');
    return [isoSha256, boot];
  }

  /** Returns what the row of the server says of both. */
  async stored(): Promise<[string | null, BootOrder]> {
    const { iso_image_id: id, boot } = await this.server();
    return [id, boot];
  }

  /** Events after the first run. */
  async events(): Promise<string[]> {
    return (await this.region.events()).slice(3);
  }
}

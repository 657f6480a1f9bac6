/** Archives as objects of the S3-compatible store: `skerry-backups-<database>/files/<id>`. */

import { DAY_MS } from '../../kernel/time.ts';
import type { ArchiveInfo, ArchiveSource, ArchiveStore, StoredArchive } from '../../ports/archives.ts';
import { BlobMissingError } from '../../ports/blobs.ts';
import { S3Blobs } from './s3.ts';
import { S3Calls, type S3Options } from './s3-calls.ts';

const PREFIX = 'skerry-backups';
const OBJECT = /^skerry-backups-([0-9a-f-]{36})\/files\/([0-9a-f-]{36})$/;

/** The archives of every database in the bucket. A restore does not know its database yet. */
export class ArchiveBucket implements ArchiveSource {
  readonly #options: Omit<S3Options, 'prefix'>;

  constructor(options: Omit<S3Options, 'prefix'>) {
    this.#options = options;
  }

  async list(): Promise<StoredArchive[]> {
    const found: StoredArchive[] = [];
    const calls = new S3Calls({ ...this.#options, prefix: PREFIX });
    for await (const { name, sizeBytes, changedAt } of calls.list(`${PREFIX}-`))
      if (OBJECT.test(name)) found.push({ name, sizeBytes, changedAt });
    return found.sort((a, b) => b.changedAt.getTime() - a.changedAt.getTime());
  }

  read(name: string): AsyncIterable<Uint8Array> {
    const [, database, id] = OBJECT.exec(name) ?? [];
    if (database === undefined || id === undefined) throw new BlobMissingError();
    return new StoredArchives(this.#options, database).read(id);
  }
}

export class StoredArchives implements ArchiveStore {
  readonly label = 'the store of files';
  readonly #prefix: string;
  readonly #archives: S3Blobs;
  /** Small objects of the same names. */
  readonly #sums: S3Blobs;

  constructor(options: Omit<S3Options, 'prefix'>, database: string) {
    this.#prefix = `${PREFIX}-${database}`;
    this.#archives = new S3Blobs({ ...options, prefix: this.#prefix });
    this.#sums = new S3Blobs({ ...options, prefix: `${this.#prefix}/sha256` });
  }

  async write(id: string, content: AsyncIterable<Uint8Array>, expectedBytes: number): Promise<ArchiveInfo> {
    const writer = await this.#archives.createWriter(id, expectedBytes);
    try {
      for await (const chunk of content) await writer.write(chunk);
      const info = await writer.finish();
      const name = `${this.#prefix}/files/${id}`;
      const sum = await this.#sums.createWriter(id, 0);
      await sum.write(Buffer.from(`${info.sha256}  ${id}\n`));
      await sum.finish();
      return { ...info, name };
    } catch (error) {
      await writer.abort().catch(() => undefined);
      throw error;
    }
  }

  read(id: string): AsyncIterable<Uint8Array> {
    return this.#archives.read(id, 0);
  }

  async list(): Promise<string[]> {
    const ids = new Set<string>();
    for await (const { key, changedAt } of this.#archives.list()) {
      if (ids.has(key)) continue;
      if ((await this.#archives.sizeOf(key)) !== null) ids.add(key);
      // A killed run leaves its parts behind, which cost money.
      else if (Date.now() - changedAt.getTime() > DAY_MS) await this.remove(key);
    }
    return [...ids];
  }

  async remove(id: string): Promise<void> {
    for (const each of [this.#archives, this.#sums]) {
      await each.remove(id).catch((error: unknown) => {
        if (!(error instanceof BlobMissingError)) throw error;
      });
    }
  }
}

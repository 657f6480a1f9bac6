/** Archives as objects of the S3-compatible store, such as `skerry-backups-<database>/files/<id>`. */
import { DAY_MS } from '../../kernel/time.ts';
import type { ArchiveInfo, ArchiveSource, ArchiveStore, StoredArchive } from '../../ports/archives.ts';
import { BlobMissingError } from '../../ports/blobs.ts';
import { isBlobKey } from './keys.ts';
import { S3Blobs } from './s3.ts';
import { S3Calls, type S3Options } from './s3-calls.ts';
import { deleteObject, endUpload, listUploads, MultipartWriter, putObject } from './s3-multipart.ts';

const PREFIX = 'skerry-backups';
/** A large database takes days to upload. */
const UNFINISHED_MS = 7 * DAY_MS;
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
    return openStoredBackups(this.#options, database).read(id);
  }
}

/** Returns the backups of a database. */
export function openStoredBackups(options: Omit<S3Options, 'prefix'>, database: string): ArchiveStore {
  return new StoredArchives({ ...options, prefix: `${PREFIX}-${database}` });
}

export class StoredArchives implements ArchiveStore {
  readonly label = 'the store of files';
  readonly #calls: S3Calls;
  readonly #archives: S3Blobs;

  constructor(options: S3Options) {
    this.#calls = new S3Calls(options);
    this.#archives = new S3Blobs(options);
  }

  /** After a failure, the object stays: another process may have written it meanwhile. */
  async write(id: string, content: AsyncIterable<Uint8Array>, expectedBytes: number): Promise<ArchiveInfo> {
    const name = this.#folder + id;
    const writer = new MultipartWriter(this.#calls, { object: name, expectedBytes, resume: false });
    try {
      for await (const chunk of content) await writer.write(chunk);
      const info = await writer.finish();
      await putObject(this.#calls, this.#sumOf(id), Buffer.from(`${info.sha256}  ${id}\n`));
      return { ...info, name };
    } catch (error) {
      await writer.abandon().catch(() => undefined);
      throw error;
    }
  }

  read(id: string): AsyncIterable<Uint8Array> {
    return this.#archives.read(id, 0);
  }

  async list(): Promise<string[]> {
    const ids: string[] = [];
    for await (const { name } of this.#calls.list(this.#folder)) {
      const id = name.slice(this.#folder.length);
      if (isBlobKey(id)) ids.push(id);
    }
    return ids;
  }

  async remove(id: string): Promise<void> {
    for (const name of [this.#folder + id, this.#sumOf(id)]) await deleteObject(this.#calls, name);
  }

  /** A killed run leaves its parts behind, which cost money. */
  async tidy(): Promise<void> {
    const uploads = await listUploads(this.#calls, this.#folder, { all: true });
    for (const { object, id, begunAt } of uploads)
      if (Date.now() - begunAt.getTime() > UNFINISHED_MS) await endUpload(this.#calls, object, id);
  }

  get #folder(): string {
    return `${this.#calls.options.prefix}/files/`;
  }

  /** Small objects of the same names. */
  #sumOf(id: string): string {
    return `${this.#calls.options.prefix}/sha256/files/${id}`;
  }
}

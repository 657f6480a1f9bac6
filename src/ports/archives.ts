/**
 * The archives port: where backups of the database are. An archive has the id of its backup, whose first part
 * is its time, and appears only when it is complete and on disk. Its SHA-256 is stored next to it.
 */
import type { BlobInfo } from './blobs.ts';

export interface ArchiveStore {
  /** For messages: a folder, or the store of files. */
  readonly label: string;
  /** `expectedBytes` is an estimate. Throws as BlobStore does, and then leaves nothing behind. */
  write(id: string, content: AsyncIterable<Uint8Array>, expectedBytes: number): Promise<ArchiveInfo>;
  /** Throws BlobMissingError if there is none. The reader compares the SHA-256. */
  read(id: string): AsyncIterable<Uint8Array>;
  /** Lists the ids of the archives of this database, unfinished ones excluded. */
  list(): Promise<string[]>;
  /** Deletes the archive. Succeeds if there is none. */
  remove(id: string): Promise<void>;
  /** Deletes what killed runs left behind. */
  tidy(): Promise<void>;
}

/** Where archives of any database are read from. */
export interface ArchiveSource {
  /** Newest first. */
  list(): Promise<StoredArchive[]>;
  /** Throws BlobMissingError if there is none. */
  read(name: string): AsyncIterable<Uint8Array>;
}

export interface StoredArchive {
  readonly name: string;
  readonly sizeBytes: number;
  readonly changedAt: Date;
}

/** The archives of one cluster of PostgreSQL for point-in-time recovery. */
export interface WalArchive {
  /** Where it is, and of which cluster of which database. */
  readonly name: string;
  /** The system identifier of the cluster. */
  readonly cluster: string;
  readonly bases: ArchiveStore;
  readonly segments: ArchiveStore;
}

export interface ArchiveInfo extends BlobInfo {
  /** Its file or object. */
  readonly name: string;
}

/**
 * The blobs port: customer files that are too large for the database. The caller chooses a unique key, and
 * each blob is written once. The database knows which blobs are in use; a driver only knows the bytes.
 */

/** The contents of a finished blob. */
export interface BlobInfo {
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** A blob that is being written, by one caller at a time. */
export interface BlobWriter {
  /**
   * Writes the chunk; resolves when the writer accepts more. The caller must not modify the buffer afterward.
   */
  write(chunk: Uint8Array): Promise<void>;
  /** Publishes the blob under its key. From then on it survives a power loss. */
  finish(): Promise<BlobInfo>;
  /** Deletes the blob, finished or not. You can call it more than once. */
  abort(): Promise<void>;
}

/** The next part of a blob that arrives over several requests, by one caller at a time. */
export interface BlobAppender {
  /** As in BlobWriter. */
  write(chunk: Uint8Array): Promise<void>;
  /** Resolves when all written bytes survive a power loss. Call it after an error too. */
  finish(): Promise<void>;
  /** Instead of `finish`, for a caller that may no longer be the only one: changes nothing further. */
  abandon(): Promise<void>;
}

export interface BlobStore {
  /** Throws BlobStoreFullError if there isn't enough space; writes may throw it later. */
  createWriter(key: string, expectedBytes: number): Promise<BlobWriter>;
  /**
   * Continues an unpublished blob at `offset`, over anything that is there. Throws as `createWriter` does,
   * and BlobMissingError if it has fewer bytes.
   */
  openAppender(key: string, offset: number, expectedBytes: number): Promise<BlobAppender>;
  /**
   * Hashes a blob of appended parts, passes its chunks to `onChunk`, and publishes it. A killed call can be
   * repeated. Throws BlobMissingError if it does not have exactly `sizeBytes`.
   */
  publish(key: string, sizeBytes: number, onChunk: (chunk: Uint8Array) => void): Promise<BlobInfo>;
  /** The path of a blob that is a file on this machine; null if `read` is the only way to its bytes. */
  path(key: string): string | null;
  /**
   * Reads a published blob from `offset` on. Throws BlobMissingError if there is none. The reader compares
   * the SHA-256: a store may return other bytes than it was given.
   */
  read(key: string, offset: number): AsyncIterable<Uint8Array>;
  /** Deletes the blob and everything that an unfinished upload left. Succeeds if there is none. */
  remove(key: string): Promise<void>;
  /** The store alone. Absent without a store: then no file is lost from the database. */
  readonly stored?: StoredBlobs;
  /** Copies of snapshots, which hosts send and fetch themselves. Absent without a store. */
  readonly copies?: CopyStore;
  /** Files that are on this machine from before there was a store. Absent without a store. */
  readonly earlier?: EarlierBlobs;
  /** Throws BlobStoreError, which names the cause, unless a blob can be written, read, and deleted. */
  check(): Promise<void>;
}

export interface StoredBlobs {
  /**
   * Lists the keys of all that is stored, unfinished uploads included, with the latest change. A key may
   * appear more than once.
   */
  list(): AsyncIterable<StoredBlob>;
  /** As in BlobStore, with copies of snapshots, but leaves the files of this machine as they are. */
  remove(key: string): Promise<void>;
}

/** A file in parts whose MD5s are known: lower-case hexadecimal. */
export interface CopyFile {
  readonly sizeBytes: number;
  readonly partMd5s: readonly string[];
}

/** Objects that others write and read by signed URLs. Their keys may be those of other blobs. */
export interface CopyStore {
  /** Whether the store has the whole file, with these parts. */
  has(key: string, file: CopyFile): Promise<boolean>;
  /** Continues the unfinished upload of the file, or begins one. */
  open(key: string): Promise<CopyUpload>;
  /** Signs a GET with ranges, for an hour. */
  signRead(key: string): Promise<string>;
  /** Deletes the object, and ends its uploads. Succeeds if there is none. */
  remove(key: string): Promise<void>;
}

export interface CopyUpload {
  /** MD5s of the parts that the store has, by their numbers from 1 on. */
  readonly parts: ReadonlyMap<number, string>;
  /** Signs a PUT of these bytes and no others, for an hour. */
  signPart(number: number, part: { readonly sizeBytes: number; readonly md5: string }): Promise<string>;
  /** Publishes the file. Throws BlobMissingError if the upload has ended meanwhile. */
  complete(file: CopyFile): Promise<void>;
}

export interface EarlierBlobs {
  keys(): Promise<string[]>;
  /**
   * Copies the blob to the store, reads it back, and deletes the file. A killed call can be repeated: it
   * sends what the store lacks. Throws BlobDamagedError, without a change, if the file has another SHA-256,
   * or the copy.
   */
  move(key: string, sha256: string): Promise<{ readonly sizeBytes: number; readonly sentBytes: number }>;
}

export interface StoredBlob {
  readonly key: string;
  readonly changedAt: Date;
}

/** The store takes or returns no bytes now. The message contains no addresses and no secrets. */
export class BlobStoreError extends Error {
  override readonly name: string = 'BlobStoreError';
}

/** The store does not name files by their MD5s, so no copy can be checked. Trying again does not help. */
export class BlobTagError extends BlobStoreError {
  override readonly name = 'BlobTagError';
}

export class BlobStoreFullError extends BlobStoreError {
  override readonly name = 'BlobStoreFullError';
  override readonly message = 'not enough space for another file';
}

export class BlobMissingError extends Error {
  override readonly name = 'BlobMissingError';
  override readonly message = 'bytes of a file are missing';
}

export class BlobDamagedError extends Error {
  override readonly name = 'BlobDamagedError';
}

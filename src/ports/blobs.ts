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
  /** The path where the machine that runs servers finds the blob. */
  path(key: string): string;
  /** Deletes the blob and any partial file that a killed process left. Succeeds if there is none. */
  remove(key: string): Promise<void>;
}

export class BlobStoreFullError extends Error {
  override readonly name = 'BlobStoreFullError';
  override readonly message = 'not enough disk space for another file';
}

export class BlobMissingError extends Error {
  override readonly name = 'BlobMissingError';
  override readonly message = 'bytes of a file are missing';
}

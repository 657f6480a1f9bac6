/**
 * The blobs port: files of customers that are too large for the database. They are found by a key that the caller makes
 * up, and written once. Which of them are wanted, the database knows; a driver knows only what it was given.
 */

/** What is on the disk, once all of it is there. */
export interface BlobInfo {
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** A blob that is being written. One caller at a time. */
export interface BlobWriter {
  /** Takes the bytes; returns when more may come. The caller leaves the buffer alone from then on. */
  write(chunk: Uint8Array): Promise<void>;
  /** Makes the blob be found under its key. It survives the loss of power from here on. */
  finish(): Promise<BlobInfo>;
  /** Makes it not exist, finished or not. May be called more than once. */
  abort(): Promise<void>;
}

export interface BlobStore {
  /** Throws BlobsFull when there is no room for so many bytes, and any time later when there is none left. */
  createWriter(key: string, expectedBytes: number): Promise<BlobWriter>;
  /** Where the machine that runs servers finds it. */
  path(key: string): string;
  /** Makes the blob not exist, and what a killed process had written of it. An absent one is fine. */
  remove(key: string): Promise<void>;
}

export class BlobStoreFullError extends Error {
  override readonly name = 'BlobsFull';
  override readonly message = 'there is no room for another file';
}

/** Disks that the operator imported, from which machines and rescue systems are installed. */

/** An imported disk, as the driver stores it. */
export interface BaseImage {
  /** SHA-256 of the imported file in hex; it identifies the disk. */
  readonly sha256: string;
  readonly sizeBytes: number;
  /** The smallest disk that it fits on. */
  readonly diskGb: number;
}

/** The file in which the driver stores an imported disk: never written again. */
export interface StoredDisk {
  readonly image: BaseImage;
  readonly path: string;
  /** SHA-256 in hex of this file, which is not the imported one. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** The disks that the operator imports and machines are installed from. */
export interface BaseImages {
  /** Imports a qcow2 or raw disk. Any other format or a wrong checksum is `refused`. */
  add(path: string, expected: { readonly sha256: string | null }): Promise<BaseImage>;
  /** Sets the disk that rescue systems boot; `refused` unless it was imported. */
  setRescue(sha256: string): Promise<void>;
  rescue(): Promise<BaseImage | null>;
  list(): Promise<BaseImage[]>;
  /** Returns the file of an imported disk, or null. The first call reads the whole file. */
  stored(sha256: string): Promise<StoredDisk | null>;
}

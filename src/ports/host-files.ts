/**
 * Files that hosts on other machines need: the disks that servers and rescue systems are installed from, and
 * customers' ISO images. A file is named by the SHA-256 of its content, so it is sent to a host once.
 */
import type { BaseImage } from './base-images.ts';

/** `rescue`: a disk that the host's rescue systems boot from then on. */
export type HostFileKind = 'disk' | 'rescue' | 'iso';

/** A file by the SHA-256 of the image: of the file that was imported, or of the ISO. */
export interface WantedFile {
  readonly kind: HostFileKind;
  readonly imageSha256: string;
}

/** A file as it is sent. A disk is sent as the driver stores it, not as it was imported. */
export interface HostFile {
  readonly kind: HostFileKind;
  /** SHA-256 in hex of the bytes that are sent. */
  readonly sha256: string;
  readonly sizeBytes: number;
  /** The image that the disk provides; null for an ISO. */
  readonly image: BaseImage | null;
}

/** `partial`: the first `bytes` are there; `receiving`: more are arriving. */
export interface FileOnHost {
  readonly state: 'absent' | 'partial' | 'receiving' | 'ready';
  readonly bytes: number;
}

/** The files on a host that others send to it. */
export interface HostFiles {
  find(file: HostFile): Promise<FileOnHost>;
  /**
   * Receives the bytes from `offset` on, which must be those that are missing, and uses the file once its
   * SHA-256 was checked. What arrived stays if the content ends early (`transient`), and is deleted if it is
   * not that file (`refused`). Throws `host` if there is not enough space.
   */
  receive(file: HostFile, offset: number, content: AsyncIterable<Uint8Array>): Promise<void>;
}

/** A file of this machine, and how to follow its transfer. */
export interface FileToSend {
  readonly file: HostFile;
  readonly path: string;
  /** Aborted: the transfer ends, and the host keeps what it has. */
  readonly signal: AbortSignal;
  /** Called with the bytes that the host has, or that are on their way. */
  readonly onProgress: (bytes: number) => void;
}

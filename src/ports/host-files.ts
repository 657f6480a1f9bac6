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

/** A transfer of one file between two hosts, made by the control plane for them alone. */
export interface FileTransfer {
  readonly id: string;
  /** 32 random bytes: both hosts prove with it who they are. */
  readonly key: Uint8Array;
}

/** Where another host sends the file from. */
export interface FileSource extends FileTransfer {
  /** Host name or IP address, and port. */
  readonly address: string;
}

/** A file that a host sends to another one until `end` is called. */
export interface FileOffer {
  /** Host name or IP address, and port. Without a host name: that of its backend. */
  readonly address: string;
  end(): void;
}

/** The files on a host that others send to it. */
export interface HostFiles {
  find(file: HostFile): Promise<FileOnHost>;
  /** Returns the path of a complete file with exactly these bytes, or null. */
  locate(file: HostFile): Promise<string | null>;
  /**
   * Receives the bytes from `offset` on, which must be those that are missing, and uses the file once its
   * SHA-256 was checked. What arrived stays if the content ends early (`transient`), and is deleted if it is
   * not that file (`DamagedFile`). Throws `host` if there is not enough space.
   */
  receive(file: HostFile, offset: number, content: AsyncIterable<Uint8Array>): Promise<void>;
}

/** A file, and how to follow its transfer. */
export interface FileToFollow {
  readonly file: HostFile;
  /** Aborted: the transfer ends, and the host keeps what it has. */
  readonly signal: AbortSignal;
  /** Called with the bytes that the host has, or that are on their way. */
  readonly onProgress: (bytes: number) => void;
}

/** A file that this machine can read. */
export interface FileToSend extends FileToFollow {
  /** Returns its bytes from `offset` on. */
  read(offset: number): AsyncIterable<Uint8Array>;
}

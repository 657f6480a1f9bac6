/**
 * Files that this host sends to other hosts of its region: the images that it has. The control plane makes
 * each offer for one other host, and it lasts while the control plane's request for it is open.
 */
import { createReadStream } from 'node:fs';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ComputeError } from '../../../ports/compute.ts';
import type { FileTransfer } from '../../../ports/host-files.ts';
import type { ExpectedTransfer, PeerTransfers } from './peer-listener.ts';

/** Files on their way from this host, so that machines that move to it and its guests keep their share. */
const OFFERS_MAX = 2;
const CHUNK_BYTES = 65_536;
const STREAM = /^from-(\d{1,15})$/;

export class FileOffers implements PeerTransfers {
  /** Where this host listens for other hosts. */
  readonly address: string;
  readonly #offers = new Map<string, ExpectedTransfer>();

  /** The address may be only a port with a colon: the control plane knows the host's name. */
  constructor(address: string) {
    this.address = address;
  }

  find(id: string): ExpectedTransfer | undefined {
    return this.#offers.get(id);
  }

  /** Offers the file. Returns a function that ends the offer. Throws `transient` if there are too many. */
  open({ id, key }: FileTransfer, path: string): () => void {
    if (this.#offers.size >= OFFERS_MAX)
      throw new ComputeError('transient', 'the host is sending other files');
    let isOpen = false;
    const open = (name: string, stream: Duplex): void => {
      const offset = STREAM.exec(name)?.[1];
      if (offset === undefined || isOpen) {
        stream.destroy();
        return;
      }
      isOpen = true;
      // The other host checks what it got, so a failure here needs no word to it.
      pipeline(createReadStream(path, { start: Number(offset), highWaterMark: CHUNK_BYTES }), stream)
        .catch(() => undefined)
        .finally(() => {
          isOpen = false;
        });
    };
    this.#offers.set(id, { id, key, open });
    return () => this.#offers.delete(id);
  }
}

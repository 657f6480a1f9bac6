/**
 * Detects ISO 9660 in a stream. The first volume descriptor is sector 16, of 2048 bytes: a type byte,
 * `CD001`, and a version byte of 1.
 */
const DESCRIPTOR_OFFSET = 16 * 2048;
const DESCRIPTOR_END = DESCRIPTOR_OFFSET + 2048;
const MAGIC_OFFSET = DESCRIPTOR_OFFSET + 1;
const MAGIC = Buffer.from('CD001\x01', 'latin1');

export class IsoProbe {
  readonly #seen = Buffer.alloc(MAGIC.length);
  #sizeBytes = 0;

  /** Takes the next bytes of the file. */
  push(chunk: Uint8Array): void {
    const begin = this.#sizeBytes;
    this.#sizeBytes += chunk.length;
    if (this.#sizeBytes <= MAGIC_OFFSET || begin >= MAGIC_OFFSET + MAGIC.length) return;
    const from = Math.max(MAGIC_OFFSET - begin, 0);
    const to = Math.min(MAGIC_OFFSET + MAGIC.length - begin, chunk.length);
    this.#seen.set(chunk.subarray(from, to), begin + from - MAGIC_OFFSET);
  }

  /** Call it after the last byte. */
  isIso(): boolean {
    return this.#sizeBytes >= DESCRIPTOR_END && this.#seen.equals(MAGIC);
  }
}

/**
 * Whether a file that goes by is ISO 9660: its first volume descriptor is sector 16, of 2048 bytes, and says `CD001` after
 * a byte for its type and before one for its version, which is 1.
 */
const DESCRIPTOR_AT = 16 * 2048;
const DESCRIPTOR_END = DESCRIPTOR_AT + 2048;
const MARK_AT = DESCRIPTOR_AT + 1;
const MARK = Buffer.from('CD001\x01', 'latin1');

export class IsoProbe {
  readonly #seen = Buffer.alloc(MARK.length);
  #sizeBytes = 0;

  /** The next bytes of the file. */
  push(chunk: Uint8Array): void {
    const begin = this.#sizeBytes;
    this.#sizeBytes += chunk.length;
    if (this.#sizeBytes <= MARK_AT || begin >= MARK_AT + MARK.length) return;
    const from = Math.max(MARK_AT - begin, 0);
    const to = Math.min(MARK_AT + MARK.length - begin, chunk.length);
    this.#seen.set(chunk.subarray(from, to), begin + from - MARK_AT);
  }

  /** Asked when the file has ended. */
  isIso(): boolean {
    return this.#sizeBytes >= DESCRIPTOR_END && this.#seen.equals(MARK);
  }
}

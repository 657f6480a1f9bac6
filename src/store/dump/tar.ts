/**
 * The framing of a backup: a tar file (ustar) of small entries, which `tar -x` unpacks. The length of an
 * entry comes before its bytes, so the contents of a table are divided into entries of a megabyte.
 */
import { ArchiveError } from '../../kernel/crypt/age.ts';

const BLOCK_BYTES = 512;
/** Ours have about one megabyte; a row can have more. */
const ENTRY_MAX_BYTES = 256 * 1024 ** 2;
const NAME_MAX_BYTES = 100;

export interface Entry {
  readonly name: string;
  readonly bytes: Buffer;
}

export function* writeEntry({ name, bytes }: Entry): Generator<Uint8Array> {
  yield header(name, bytes.length);
  yield bytes;
  yield Buffer.alloc(paddingOf(bytes.length));
}

export function endOfEntries(): Uint8Array {
  return Buffer.alloc(2 * BLOCK_BYTES);
}

/** Throws an ArchiveError if the bytes are not a whole file of such entries. */
export async function* readEntries(content: AsyncIterable<Uint8Array>): AsyncGenerator<Entry> {
  const reader = new BlockReader(content);
  try {
    for (;;) {
      const block = await reader.read(BLOCK_BYTES);
      const end = block.indexOf(0);
      if (end === 0) return await reader.requireEnd();
      const size = Number.parseInt(block.toString('latin1', 124, 135), 8);
      if (end > NAME_MAX_BYTES || end < 0 || !(size >= 0 && size <= ENTRY_MAX_BYTES)) throw damaged();
      const bytes = await reader.read(size);
      await reader.read(paddingOf(size));
      yield { name: block.toString('latin1', 0, end), bytes };
    }
  } finally {
    await reader.close();
  }
}

function paddingOf(size: number): number {
  return (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
}

function header(name: string, size: number): Buffer {
  if (Buffer.byteLength(name) >= NAME_MAX_BYTES) throw new Error(`the name of an entry is too long: ${name}`);
  const block = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');
  block.write(name, 0, 'latin1');
  block.write(`${octal(0o600, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100, 'latin1');
  block.write(`${octal(size, 11)}\0${octal(0, 11)}\0`, 124, 'latin1');
  // The checksum is computed with spaces in its place.
  block.write('        0', 148, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, 148, 'latin1');
  return block;
}

function damaged(): ArchiveError {
  return new ArchiveError('the archive is damaged or incomplete');
}

class BlockReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  constructor(content: AsyncIterable<Uint8Array>) {
    this.#chunks = content[Symbol.asyncIterator]();
  }

  async read(size: number): Promise<Buffer> {
    while (this.#pendingBytes < size) {
      const { done, value } = await this.#chunks.next();
      if (done === true) throw damaged();
      this.#pending.push(Buffer.from(value.buffer, value.byteOffset, value.length));
      this.#pendingBytes += value.length;
    }
    const all = this.#pending.length === 1 ? (this.#pending[0] as Buffer) : Buffer.concat(this.#pending);
    this.#pending = all.length > size ? [all.subarray(size)] : [];
    this.#pendingBytes = all.length - size;
    return all.subarray(0, size);
  }

  /** The last bytes are authentic only when the content has ended. */
  async requireEnd(): Promise<void> {
    for (let chunk = Buffer.concat(this.#pending); ; ) {
      if (chunk.some((byte) => byte !== 0)) throw damaged();
      const { done, value } = await this.#chunks.next();
      if (done === true) return;
      chunk = Buffer.from(value);
    }
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}

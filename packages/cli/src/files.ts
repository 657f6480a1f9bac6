/** Reads files named on the command line. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { Failure } from './exit-codes.ts';

/**
 * Reads a whole file; `-` is stdin. Null: the file is longer than `maxBytes`.
 * Stops one byte past the limit, because a path may be a device without an end.
 */
export async function readBytes(path: string, maxBytes: number): Promise<Buffer | null> {
  // Stream stdin too: a pipe may be empty at first, or end with an error.
  const stream: Readable = path === '-' ? process.stdin : createReadStream(path, { end: maxBytes });
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxBytes) return null;
    }
  } catch (error) {
    throw new Failure('usage', `cannot read ${path || "''"}: ${(error as Error).message}`);
  }
  return Buffer.concat(chunks);
}

export async function readText(path: string, maxBytes: number): Promise<string> {
  const bytes = await readBytes(path, maxBytes);
  if (bytes === null) throw new Failure('usage', `${path} is too large: at most ${maxBytes} bytes`);
  return bytes.toString('utf8');
}

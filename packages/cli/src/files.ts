/** Files that a command line names. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { Failure } from './exit-codes.ts';

/** A whole file, `-` is stdin; null: it is longer. Never more than shows that is read: a path may lead to anything. */
export async function readBytes(path: string, maxBytes: number): Promise<Buffer | null> {
  // As a stream even where it is stdin: that may be a pipe which has nothing to read just now, or which ends in an error.
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
    throw new Failure('usage', `${path || "''"} cannot be read: ${(error as Error).message}`);
  }
  return Buffer.concat(chunks);
}

export async function readText(path: string, maxBytes: number): Promise<string> {
  const bytes = await readBytes(path, maxBytes);
  if (bytes === null) throw new Failure('usage', `${path} is longer than ${maxBytes} bytes`);
  return bytes.toString('utf8');
}

/** A copy and its SHA-256 in one pass: what was checked is what is kept, whatever becomes of the file meanwhile. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { ComputeError } from '../../../../ports/compute.ts';

const CHUNK_BYTES = 1024 ** 2;

export async function copyHashed(
  from: string,
  to: string,
): Promise<{ readonly sha256: string; readonly sizeBytes: number }> {
  const stats = await stat(from).catch(throwUnreadable);
  if (!stats.isFile()) throw new ComputeError('refused', 'this is no file, but a folder or the like');
  await access(from, constants.R_OK).catch(throwUnreadable);
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const source = createReadStream(from, { highWaterMark: CHUNK_BYTES });
  async function* hashChunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      yield chunk;
    }
  }
  try {
    await pipeline(source, hashChunks, createWriteStream(to));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC') throw new ComputeError('host', 'the disk of this host is full');
    throw new ComputeError('transient', `the file cannot be copied: ${code ?? 'it ended early'}`);
  }
  return { sha256: hash.digest('hex'), sizeBytes };
}

function throwUnreadable(error: unknown): never {
  const { code } = error as NodeJS.ErrnoException;
  const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
  throw new ComputeError(
    'refused',
    isMissing ? 'there is no such file' : `the file cannot be read (${code})`,
  );
}

/**
 * Copies a file and hashes it in one pass, so the hash always matches the copy even if the source changes.
 */
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
  if (!stats.isFile()) throw new ComputeError('refused', 'this is not a file');
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
    if (code === 'ENOSPC') throw new ComputeError('host', 'the disk of the host is full');
    throw new ComputeError('transient', `copying the file failed: ${code ?? 'it ended early'}`);
  }
  return { sha256: hash.digest('hex'), sizeBytes };
}

function throwUnreadable(error: unknown): never {
  const { code } = error as NodeJS.ErrnoException;
  const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
  throw new ComputeError('refused', isMissing ? 'file not found' : `the file cannot be read (${code})`);
}

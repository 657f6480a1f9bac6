/** An ISO image of random bytes, as a file that can be sent. */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { hashFile, readFrom } from '../../../../src/kernel/files.ts';
import type { FileToSend } from '../../../../src/ports/host-files.ts';

export interface SourceOnDisk extends FileToSend {
  readonly path: string;
}

export async function createSource(path: string, sizeBytes: number): Promise<SourceOnDisk> {
  await writeFile(path, randomBytes(sizeBytes));
  return {
    file: { kind: 'iso', sha256: await hashFile(path), sizeBytes, image: null },
    path,
    read: (offset) => readFrom(path, offset),
    signal: new AbortController().signal,
    onProgress: () => undefined,
  };
}

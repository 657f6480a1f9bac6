/** Archives as files in a folder: `skerry-<database>-<id>.tar.gz.age`, and `….sha256` for `sha256sum -c`. */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath, undefinedIfMissing } from '../../kernel/files.ts';
import { HOUR_MS } from '../../kernel/time.ts';
import type { ArchiveInfo, ArchiveStore } from '../../ports/archives.ts';
import { BlobMissingError, BlobStoreError, BlobStoreFullError } from '../../ports/blobs.ts';
import { isBlobKey, requireBlobKey } from './keys.ts';

const SUFFIX = '.tar.gz.age';
const PART = '.part';
/** A part that has not grown for this long belongs to a run that was killed. */
const LEFTOVER_MS = HOUR_MS;
const READ_BYTES = 1024 ** 2;
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

export class DiskArchives implements ArchiveStore {
  readonly #folder: string;
  readonly #prefix: string;

  constructor({ folder, database }: { readonly folder: string; readonly database: string }) {
    this.#folder = folder;
    this.#prefix = `skerry-${database}-`;
  }

  get label(): string {
    return this.#folder;
  }

  async write(id: string, content: AsyncIterable<Uint8Array>): Promise<ArchiveInfo> {
    const path = this.#path(id);
    // Of its own: a process that lost its lease may still write the same archive.
    const part = `${path}.${randomBytes(8).toString('hex')}.part`;
    const sumPart = `${part.slice(0, -PART.length)}.sha256${PART}`;
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      const info = await writePart(part, content);
      await writePart(sumPart, oneChunk(`${info.sha256}  ${this.#name(id)}\n`));
      await rename(sumPart, `${path}.sha256`);
      await rename(part, path);
      await syncPath(this.#folder);
      return { ...info, name: path };
    } catch (error) {
      for (const each of [part, sumPart]) await rm(each, { force: true }).catch(() => undefined);
      throw toStoreError(error);
    }
  }

  async *read(id: string): AsyncGenerator<Uint8Array> {
    const path = this.#path(id);
    if ((await stat(path).catch(undefinedIfMissing)) === undefined) throw new BlobMissingError();
    yield* createReadStream(path, { highWaterMark: READ_BYTES });
  }

  async list(): Promise<string[]> {
    const names = (await readdir(this.#folder).catch(undefinedIfMissing)) ?? [];
    return names.flatMap((name) => {
      const id = name.slice(this.#prefix.length, -SUFFIX.length);
      return isBlobKey(id) && name === this.#name(id) ? [id] : [];
    });
  }

  async remove(id: string): Promise<void> {
    const path = this.#path(id);
    for (const each of [path, `${path}.sha256`]) await rm(each, { force: true });
  }

  /** A killed run leaves its part behind. Another run may be writing one now. */
  async tidy(): Promise<void> {
    for (const name of (await readdir(this.#folder).catch(undefinedIfMissing)) ?? []) {
      if (!name.startsWith(this.#prefix) || !name.endsWith(PART)) continue;
      const path = join(this.#folder, name);
      const found = await stat(path).catch(undefinedIfMissing);
      if (found && Date.now() - found.mtimeMs > LEFTOVER_MS) await rm(path, { force: true });
    }
  }

  #name(id: string): string {
    return `${this.#prefix}${requireBlobKey(id)}${SUFFIX}`;
  }

  #path(id: string): string {
    return join(this.#folder, this.#name(id));
  }
}

async function* oneChunk(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function writePart(path: string, content: AsyncIterable<Uint8Array>) {
  const file = await open(path, 'w', 0o600);
  const hash = createHash('sha256');
  let sizeBytes = 0;
  try {
    for await (const chunk of content) {
      await file.writeFile(chunk);
      hash.update(chunk);
      sizeBytes += chunk.length;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { sha256: hash.digest('hex'), sizeBytes };
}

/** The message of the operating system has a path, which the operator chose. */
function toStoreError(error: unknown): unknown {
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (code !== undefined && FULL.has(code)) return new BlobStoreFullError();
  if (syscall === undefined || path === undefined) return error;
  return new BlobStoreError(`cannot write ${path} (${code})`);
}

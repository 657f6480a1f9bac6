/**
 * Disks that the operator imported. Each is named by the SHA-256 of the imported file, stored as qcow2, and
 * never written again: machine disks are overlays of it. An image exists once its file has its final name.
 */

import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { access, constants, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { hashFile, syncPath } from '../../../../kernel/files.ts';
import { type BaseImage, type BaseImages, ComputeError, type StoredDisk } from '../../../../ports/compute.ts';
import { run } from '../command.ts';
import { readJson, writeJson } from '../files.ts';
import type { QemuHost } from '../host.ts';
import { GIB } from '../space.ts';
import { inspectDisk } from './inspect-disk.ts';

const CONVERT_MAX_MS = 3_600_000;
/** Of a disk as it is stored. */
type Digest = Pick<StoredDisk, 'sha256' | 'sizeBytes'>;

const SHA256 = /^[0-9a-f]{64}$/;
/** Files of a killed import are deleted after this long, when the import can no longer be running. */
const STALE_AFTER_MS = 86_400_000;
/** How much of a file is read at once. */
const CHUNK_BYTES = 1024 ** 2;
const IMPORT_PREFIX = '.import-';

export class QemuImages implements BaseImages {
  readonly #host: QemuHost;
  constructor(host: QemuHost) {
    this.#host = host;
  }

  async add(path: string, expected: { readonly sha256: string | null }): Promise<BaseImage> {
    const folder = this.#host.layout.images();
    await mkdir(folder, { recursive: true });
    await this.#deleteStaleImports(folder);
    const scratch = await mkdtemp(join(folder, IMPORT_PREFIX));
    try {
      const copy = join(scratch, 'copy');
      const { sha256, sizeBytes } = await copyHashed(path, copy);
      if (expected.sha256 !== null && expected.sha256 !== sha256) {
        throw new ComputeError('refused', 'the SHA-256 of the file does not match the expected one');
      }
      return (await this.find(sha256)) ?? (await this.#store(scratch, copy, { sha256, sizeBytes }));
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }

  async setRescue(sha256: string): Promise<void> {
    if ((await this.find(sha256)) === undefined) {
      throw new ComputeError('refused', 'no imported disk has this SHA-256');
    }
    await this.#host.withHostLock('images', () => writeJson(this.#rescueFile(), { sha256 }));
  }

  async rescue(): Promise<BaseImage | null> {
    const chosen = await readJson<{ readonly sha256: string }>(this.#rescueFile());
    return chosen === undefined ? null : ((await this.find(chosen.sha256)) ?? null);
  }

  async list(): Promise<BaseImage[]> {
    const folder = this.#host.layout.images();
    if (!existsSync(folder)) return [];
    const names = (await readdir(folder)).flatMap((file) => /^([0-9a-f]{64})\.qcow2$/.exec(file)?.[1] ?? []);
    const images = await Promise.all(names.sort().map((sha256) => this.find(sha256)));
    return images.filter((image) => image !== undefined);
  }

  /** Hashing takes seconds, so the result is kept next to the disk. */
  async stored(sha256: string): Promise<StoredDisk | null> {
    const image = await this.find(sha256);
    if (image === undefined) return null;
    const path = this.#host.layout.image(sha256);
    const known = await readJson<Digest>(this.#digestFile(sha256));
    const { size: sizeBytes } = await stat(path);
    if (known?.sizeBytes === sizeBytes) return { image, path, ...known };
    const digest = { sha256: await hashFile(path), sizeBytes };
    await writeJson(this.#digestFile(sha256), digest);
    return { image, path, ...digest };
  }

  /** Takes over a complete disk that another machine had imported. Refuses a file that is not that disk. */
  async adopt(
    path: string,
    { image, sha256, sizeBytes }: Digest & { readonly image: BaseImage },
  ): Promise<void> {
    const { format, virtualBytes } = await inspectDisk(path);
    if (format !== 'qcow2' || Math.ceil(virtualBytes / GIB) !== image.diskGb) {
      throw new ComputeError('refused', 'the file is not the disk of this image');
    }
    await mkdir(this.#host.layout.images(), { recursive: true });
    await writeJson(this.#digestFile(image.sha256), { sha256, sizeBytes });
    await this.#publish(path, image);
  }

  async #publish(disk: string, image: BaseImage): Promise<void> {
    await this.#host.withHostLock('images', async () => {
      await writeJson(this.#factsFile(image.sha256), image);
      await rename(disk, this.#host.layout.image(image.sha256));
      await syncPath(this.#host.layout.images());
    });
  }

  async find(sha256: string): Promise<BaseImage | undefined> {
    if (!SHA256.test(sha256) || !existsSync(this.#host.layout.image(sha256))) return undefined;
    return await readJson<BaseImage>(this.#factsFile(sha256));
  }

  async #store(scratch: string, copy: string, file: Omit<BaseImage, 'diskGb'>): Promise<BaseImage> {
    const { format, virtualBytes } = await inspectDisk(copy);
    const disk = join(scratch, 'disk.qcow2');
    const convert = ['convert', '-f', format, '-O', 'qcow2', copy, disk];
    await run('qemu-img', convert, { timeoutMs: CONVERT_MAX_MS });
    await syncPath(disk);
    const image = { ...file, diskGb: Math.ceil(virtualBytes / GIB) };
    await this.#publish(disk, image);
    return image;
  }

  async #deleteStaleImports(folder: string): Promise<void> {
    for (const name of await readdir(folder)) {
      if (!name.startsWith(IMPORT_PREFIX)) continue;
      const path = join(folder, name);
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
      if (mtimeMs < Date.now() - STALE_AFTER_MS) await rm(path, { recursive: true, force: true });
    }
  }

  #factsFile(sha256: string): string {
    return join(this.#host.layout.images(), `${sha256}.json`);
  }
  #digestFile(sha256: string): string {
    return join(this.#host.layout.images(), `${sha256}.digest.json`);
  }
  #rescueFile(): string {
    return join(this.#host.layout.images(), 'rescue.json');
  }
}

/** Copies a file and hashes it in one pass, so the hash matches the copy even if the source changes. */
async function copyHashed(
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

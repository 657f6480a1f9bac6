/**
 * Disks that the operator imported. Each is named by the SHA-256 of the imported file, stored as qcow2, and
 * never written again: machine disks are overlays of it. An image exists once its file has its final name.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type BaseImage, type BaseImages, ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { readJson, writeJson } from '../json-file.ts';
import { copyHashed } from './copy.ts';
import { inspectDisk } from './inspect-disk.ts';

const GIB = 1024 ** 3;
const CONVERT_MAX_MS = 3_600_000;
const SHA256 = /^[0-9a-f]{64}$/;
/** Files of a killed import are deleted after this long, when the import can no longer be running. */
const STALE_AFTER_MS = 86_400_000;
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
      return (await this.#find(sha256)) ?? (await this.#store(scratch, copy, { sha256, sizeBytes }));
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }

  async setRescue(sha256: string): Promise<void> {
    if ((await this.#find(sha256)) === undefined) {
      throw new ComputeError('refused', 'no imported disk has this SHA-256');
    }
    await this.#host.withHostLock('images', () => writeJson(this.#rescueFile(), { sha256 }));
  }

  async rescue(): Promise<BaseImage | null> {
    const chosen = await readJson<{ readonly sha256: string }>(this.#rescueFile());
    return chosen === undefined ? null : ((await this.#find(chosen.sha256)) ?? null);
  }

  async list(): Promise<BaseImage[]> {
    const folder = this.#host.layout.images();
    if (!existsSync(folder)) return [];
    const names = (await readdir(folder)).flatMap((file) => /^([0-9a-f]{64})\.qcow2$/.exec(file)?.[1] ?? []);
    const images = await Promise.all(names.sort().map((sha256) => this.#find(sha256)));
    return images.filter((image) => image !== undefined);
  }

  async #find(sha256: string): Promise<BaseImage | undefined> {
    if (!SHA256.test(sha256) || !existsSync(this.#host.layout.image(sha256))) return undefined;
    return await readJson<BaseImage>(this.#factsFile(sha256));
  }

  async #store(scratch: string, copy: string, file: Omit<BaseImage, 'diskGb'>): Promise<BaseImage> {
    const { format, virtualBytes } = await inspectDisk(this.#host, copy);
    const disk = join(scratch, 'disk.qcow2');
    const convert = ['convert', '-f', format, '-O', 'qcow2', copy, disk];
    await this.#host.run('qemu-img', convert, { timeoutMs: CONVERT_MAX_MS });
    await flush(disk);
    const image = { ...file, diskGb: Math.ceil(virtualBytes / GIB) };
    await this.#host.withHostLock('images', async () => {
      await writeJson(this.#factsFile(file.sha256), image);
      await rename(disk, this.#host.layout.image(file.sha256));
      await flush(this.#host.layout.images());
    });
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
  #rescueFile(): string {
    return join(this.#host.layout.images(), 'rescue.json');
  }
}

async function flush(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Files that other machines send to this host. The bytes that arrived are kept in `incoming/<sha256>`, so a
 * transfer that was cut continues there. A file is used once its SHA-256 was read back from the disk.
 */
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hashFile, syncPath, undefinedIfMissing } from '../../../../kernel/files.ts';
import { DAY_MS, HOUR_MS } from '../../../../kernel/time.ts';
import { ComputeError, DamagedFile } from '../../../../ports/compute.ts';
import type { FileOnHost, HostFile, HostFiles } from '../../../../ports/host-files.ts';
import { DiskFullError, exists } from '../files.ts';
import type { QemuHost } from '../host.ts';
import { requireSpace } from '../space.ts';
import type { QemuImages } from './images.ts';

/** For incomplete files and ISO images. A machine that boots an ISO has its own link to it. */
const KEPT_MS = DAY_MS;

export class ReceivedFiles implements HostFiles {
  readonly #host: QemuHost;
  readonly #images: QemuImages;
  /** The bytes that this host has of the files that it is receiving. */
  readonly #receiving = new Map<string, number>();
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(host: QemuHost, images: QemuImages) {
    this.#host = host;
    this.#images = images;
  }

  async find(file: HostFile): Promise<FileOnHost> {
    const receiving = this.#receiving.get(file.sha256);
    if (receiving !== undefined) return { state: 'receiving', bytes: receiving };
    if (await this.#isReady(file)) return { state: 'ready', bytes: file.sizeBytes };
    const bytes = await this.#missingFrom(file);
    return { state: bytes === 0 ? 'absent' : 'partial', bytes };
  }

  async locate({ kind, sha256, sizeBytes, image }: HostFile): Promise<string | null> {
    if (kind === 'iso') {
      const path = this.#host.layout.iso(sha256);
      return (await stat(path).catch(undefinedIfMissing))?.size === sizeBytes ? path : null;
    }
    const disk = image === null ? null : await this.#images.stored(image.sha256);
    return disk?.sha256 === sha256 && disk.sizeBytes === sizeBytes ? disk.path : null;
  }

  async receive(file: HostFile, offset: number, content: AsyncIterable<Uint8Array>): Promise<void> {
    const { sha256 } = file;
    if (this.#receiving.has(sha256))
      throw new ComputeError('transient', 'the host is receiving this file already');
    this.#receiving.set(sha256, offset);
    try {
      if (await this.#isReady(file)) return;
      // Another process may be receiving it, too.
      await this.#host.withHostLock(`incoming-${sha256.slice(0, 3)}`, async () => {
        if (await this.#isReady(file)) return;
        if (offset !== (await this.#missingFrom(file)))
          throw new ComputeError('transient', 'the host has other bytes of this file');
        if (!(await this.#hasDisk(file))) await this.#receiveRest(file, offset, content);
      });
      if (file.kind === 'rescue' && file.image !== null) await this.#images.setRescue(file.image.sha256);
    } finally {
      this.#receiving.delete(sha256);
    }
  }

  /** Deletes incomplete files that no one continues, and ISO images after a day. Looks once an hour. */
  async deleteStale(now = Date.now()): Promise<void> {
    if (now - this.#sweptAt < HOUR_MS) return;
    this.#sweptAt = now;
    const { layout } = this.#host;
    for (const folder of [layout.incoming(), layout.isoFolder()]) {
      for (const name of (await readdir(folder).catch(undefinedIfMissing)) ?? []) {
        const path = join(folder, name);
        const found = await stat(path).catch(undefinedIfMissing);
        const isStale = found !== undefined && found.mtimeMs < now - KEPT_MS;
        if (isStale && !this.#receiving.has(name)) await rm(path, { force: true });
      }
    }
  }

  async #isReady(file: HostFile): Promise<boolean> {
    if (file.kind === 'iso') return await exists(this.#host.layout.iso(file.sha256));
    if (file.kind === 'disk') return await this.#hasDisk(file);
    return (await this.#images.rescue())?.sha256 === file.image?.sha256;
  }

  async #hasDisk({ image }: HostFile): Promise<boolean> {
    return image !== null && (await this.#images.find(image.sha256)) !== undefined;
  }

  /** Where the sender continues. A disk that only needs to become the rescue system is complete. */
  async #missingFrom(file: HostFile): Promise<number> {
    if (await this.#hasDisk(file)) return file.sizeBytes;
    return (await stat(this.#partial(file)).catch(undefinedIfMissing))?.size ?? 0;
  }

  async #receiveRest(file: HostFile, offset: number, content: AsyncIterable<Uint8Array>): Promise<void> {
    const partial = this.#partial(file);
    await requireSpace(this.#host.layout.incoming(), Math.max(file.sizeBytes - offset, 0));
    try {
      await this.#append(file, offset, content);
      if ((await hashFile(partial)) !== file.sha256)
        throw new DamagedFile('the file that the host received has another SHA-256');
      await this.#takeIn(file, partial);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const isFull = code === 'ENOSPC' || code === 'EDQUOT';
      const isOther = error instanceof ComputeError && error.fault === 'refused';
      if (isFull || isOther) await rm(partial, { force: true });
      throw isFull ? new DiskFullError() : error;
    }
  }

  async #append(file: HostFile, offset: number, content: AsyncIterable<Uint8Array>): Promise<void> {
    const { sha256, sizeBytes } = file;
    const output = await open(this.#partial(file), 'a', 0o600);
    let bytes = offset;
    try {
      for await (const chunk of content) {
        if (bytes + chunk.length > sizeBytes) throw new DamagedFile('the file is longer than announced');
        await output.writeFile(chunk);
        bytes += chunk.length;
        this.#receiving.set(sha256, bytes);
      }
      await output.sync();
    } finally {
      await output.close();
    }
    if (bytes < sizeBytes) throw new ComputeError('transient', 'the file ended early');
    if (bytes > sizeBytes) throw new DamagedFile('the file is longer than announced');
  }

  async #takeIn(file: HostFile, partial: string): Promise<void> {
    const { image } = file;
    if (image !== null) return await this.#images.adopt(partial, { ...file, image });
    const { layout } = this.#host;
    await requireSpace(layout.isoFolder(), 0);
    await rename(partial, layout.iso(file.sha256));
    await syncPath(layout.isoFolder());
  }

  #partial({ sha256 }: HostFile): string {
    return this.#host.layout.incomingFile(sha256);
  }
}

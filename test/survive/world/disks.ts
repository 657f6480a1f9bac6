/** Small disks that a test fills and makes read-only: file systems in memory, which need root. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, statfs } from 'node:fs/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export class Disk {
  readonly folder: string;
  readonly #sizeMb: number;
  readonly #isMounted: boolean;

  private constructor(folder: string, sizeMb: number, isMounted: boolean) {
    this.folder = folder;
    this.#sizeMb = sizeMb;
    this.#isMounted = isMounted;
  }

  /** Without root it is a plain folder, which cannot become full. */
  static async create(folder: string, sizeMb: number, isMounted: boolean): Promise<Disk> {
    await mkdir(folder);
    if (isMounted)
      await execute('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m,mode=755`, 'survive', folder]);
    else await chmod(folder, 0o755);
    return new Disk(folder, sizeMb, isMounted);
  }

  /** Leaves no free block. Returns false if it could not. */
  async fill(): Promise<boolean> {
    const { blocks, bfree, bsize } = await statfs(this.folder);
    const usedKb = Math.ceil(((blocks - bfree) * bsize) / 1024);
    // The kernel rounds up to pages. A file may have grown meanwhile.
    return await this.#remount(`size=${usedKb}k`);
  }

  /** Returns false while a file is open for writing; then the disk stays as it is. */
  async makeReadOnly(): Promise<boolean> {
    return await this.#remount('ro');
  }

  async repair(): Promise<void> {
    await execute('mount', ['-o', `remount,rw,size=${this.#sizeMb}m`, this.folder]);
  }

  async #remount(options: string): Promise<boolean> {
    return await execute('mount', ['-o', `remount,${options}`, this.folder]).then(
      () => true,
      () => false,
    );
  }

  async close(): Promise<void> {
    if (this.#isMounted) await execute('umount', ['-l', this.folder]);
  }
}

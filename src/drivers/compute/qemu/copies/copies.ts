/** Copies of this host's snapshots for the store of files, and from there. */
import { createReadStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { SECOND_MS } from '../../../../kernel/time.ts';
import { TimeoutError, withTimeout } from '../../../../kernel/timeout.ts';
import { ComputeError } from '../../../../ports/compute.ts';
import type {
  CopyPart,
  CopyProgress,
  FetchedSnapshot,
  PreparedCopy,
  SnapshotCopies,
  StoredCopy,
} from '../../../../ports/copies.ts';
import { CopyTransfers } from '../../../copy-transfers.ts';
import { digestParts, partBytesFor, putPart } from '../../../signed-urls.ts';
import type { QemuHost } from '../host.ts';
import { readBackingImage } from '../machine/isolation.ts';
import { compressCommand } from '../qcow2.ts';
import { isStarted, type LongWork, stopCopy, workInBackground } from '../storage/background-copy.ts';
import { readSnapshot } from '../storage/snapshot-record.ts';
import { removeSnapshot } from '../storage/snapshots.ts';
import { withReservedSpace } from '../storage/space-budget.ts';
import { deleteCopy, readCopy, withSnapshotLock, writeCopy } from './copy-record.ts';
import { fetchSnapshot } from './fetch.ts';

const PART_MIB = 16;
/** How long a call waits for the digests of the file. */
const DIGEST_WAIT_MS = SECOND_MS;
const READ_BYTES = 1024 ** 2;
/** Writes to a temporary name, of which the first argument is the final one. A command follows. */
const PREPARE_SCRIPT = `
to=$1
shift
"$@" && sync -- "$to.part" && mv -- "$to.part" "$to"`;

interface Digest {
  readonly prepared: Promise<PreparedCopy>;
  readonly abort: AbortController;
}

export class QemuCopies implements SnapshotCopies {
  readonly #host: QemuHost;
  readonly #transfers: CopyTransfers;
  /** Of files that this process reads, by the ids of their snapshots. */
  readonly #digests = new Map<string, Digest>();

  constructor(host: QemuHost) {
    this.#host = host;
    this.#transfers = new CopyTransfers(host.log);
  }

  async prepareCopy(id: string): Promise<PreparedCopy | null> {
    const { layout } = this.#host;
    const known = await readCopy(layout, id);
    if (known?.prepared) return known.prepared;
    const isWritten = await withSnapshotLock(this.#host, id, () => this.#write(id));
    if (!isWritten) return null;
    const digest = this.#digests.get(id) ?? this.#read(id);
    this.#digests.set(id, digest);
    try {
      const prepared = await withTimeout(digest.prepared, DIGEST_WAIT_MS);
      await withSnapshotLock(this.#host, id, async () => {
        const record = await readCopy(layout, id);
        // Otherwise it may be that of another file.
        if (record === undefined || this.#digests.get(id) !== digest)
          throw new ComputeError('transient', 'the copy was deleted meanwhile');
        await writeCopy(layout, { ...record, prepared });
      });
      this.#endDigest(id, digest);
      return prepared;
    } catch (error) {
      if (error instanceof TimeoutError) return null;
      this.#endDigest(id, digest);
      throw error;
    }
  }

  async sendCopy(id: string, parts: readonly CopyPart[]): Promise<CopyProgress> {
    const { layout } = this.#host;
    if (!(await readCopy(layout, id))?.prepared)
      throw new ComputeError('transient', 'the host has not prepared the copy');
    return await this.#transfers.run(id, async (signal, onBytes) => {
      for (const { offset, ...part } of parts) {
        const end = offset + part.sizeBytes - 1;
        const content = createReadStream(layout.copy(id, 'qcow2'), {
          ...{ start: offset, end, highWaterMark: READ_BYTES },
        });
        await putPart(part, content, signal);
        onBytes(part.sizeBytes);
      }
    });
  }

  async forgetCopy(id: string): Promise<void> {
    await this.end(id);
    await withSnapshotLock(this.#host, id, async () => {
      // A copy that is fetched has no snapshot yet.
      if (await readSnapshot(this.#host.layout, id)) await deleteCopy(this.#host, id);
    });
  }

  async fetchCopy(id: string, snapshot: FetchedSnapshot, copy: StoredCopy): Promise<CopyProgress> {
    const existing = await readSnapshot(this.#host.layout, id);
    if (existing?.state === 'ready') {
      // A kill may have come before its end.
      if (await readCopy(this.#host.layout, id))
        await withSnapshotLock(this.#host, id, () => deleteCopy(this.#host, id));
      return { state: 'done', bytes: copy.sizeBytes, fault: null, message: null };
    }
    if (existing) throw new ComputeError('refused', 'the host has another snapshot with this id');
    return await this.#transfers.run(id, (signal, onBytes) =>
      fetchSnapshot(this.#host, { id, snapshot, copy, signal, onBytes }),
    );
  }

  /** Ends what this process does with the copy, and leaves its files. */
  async end(id: string): Promise<void> {
    this.#endDigest(id, this.#digests.get(id));
    await this.#transfers.end(id);
  }

  /** Removes the snapshot, and then its copy, so that no other copy of it can begin. */
  async removeSnapshot(id: string): Promise<void> {
    const { layout } = this.#host;
    // First: a fetch that ends in between would leave the snapshot.
    await this.end(id);
    await removeSnapshot(this.#host, id);
    await this.end(id);
    if ((await readCopy(layout, id)) === undefined) return;
    await withSnapshotLock(this.#host, id, async () => {
      // A kill may have come between the file and its record.
      if (!(await readSnapshot(layout, id))) await rm(layout.snapshot(id, 'qcow2'), { force: true });
      await deleteCopy(this.#host, id);
    });
  }

  #endDigest(id: string, digest: Digest | undefined): void {
    digest?.abort.abort();
    if (this.#digests.get(id) === digest) this.#digests.delete(id);
  }

  /** Starts to write the file. Returns whether it is complete. */
  async #write(id: string): Promise<boolean> {
    const host = this.#host;
    const { layout } = host;
    const snapshot = await readSnapshot(layout, id);
    if (!snapshot) throw new ComputeError('refused', 'snapshot not found');
    if (snapshot.shared) throw new ComputeError('refused', 'the snapshot is of a shared disk');
    if (snapshot.state !== 'ready') throw new ComputeError('refused', 'the snapshot is not ready');
    const to = layout.copy(id, 'qcow2');
    const work = { to, script: () => this.#script(id, to) };
    if (!(await readCopy(layout, id)) || !(await isStarted(to))) await this.#reserve(id, work);
    const state = await workInBackground(host, work, 0);
    if (state === 'copying') return false;
    if (state === 'done') return true;
    await deleteCopy(host, id);
    throw new ComputeError('host', 'the snapshot could not be written into a file for the store');
  }

  async #reserve(id: string, work: LongWork): Promise<void> {
    const host = this.#host;
    const { layout } = host;
    await mkdir(layout.copies(), { recursive: true, mode: 0o700 });
    const path = layout.snapshot(id, 'qcow2');
    const image = await readBackingImage(host, path);
    const sizes = [path, ...(image === null ? [] : [image])].map(async (each) => (await stat(each)).size);
    // An incompressible disk becomes no larger than this.
    const maxBytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    await withReservedSpace(host, { folder: layout.copies(), bytes: maxBytes, copyId: id }, async () => {
      await stopCopy(work.to);
      await writeCopy(layout, { id, maxBytes, prepared: null });
      await workInBackground(host, work, 0).catch(async (error: unknown) => {
        await deleteCopy(host, id);
        throw error;
      });
    });
  }

  async #script(id: string, to: string): Promise<readonly [string, ...string[]]> {
    const path = this.#host.layout.snapshot(id, 'qcow2');
    const image = await readBackingImage(this.#host, path);
    const command = await compressCommand(this.#host, { path, image, to: `${to}.part` });
    return [PREPARE_SCRIPT, to, ...command];
  }

  #read(id: string): Digest {
    const abort = new AbortController();
    const path = this.#host.layout.copy(id, 'qcow2');
    const read = async (): Promise<PreparedCopy> => {
      const partBytes = partBytesFor((await stat(path)).size, PART_MIB);
      const content = createReadStream(path, { highWaterMark: READ_BYTES, signal: abort.signal });
      return { ...(await digestParts(content as AsyncIterable<Buffer>, partBytes)), partBytes };
    };
    const prepared = read().catch((error: unknown) => {
      throw abort.signal.aborted ? new ComputeError('transient', 'the copy was deleted meanwhile') : error;
    });
    // Its reader may be gone.
    prepared.catch(() => undefined);
    return { prepared, abort };
  }
}

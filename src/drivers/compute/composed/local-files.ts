/**
 * Customers' ISO images for machines on this machine, if they are in a store of files and not on its disk.
 * They are fetched as another host would receive them. A fetch that fails goes on where it stopped when the
 * image is asked for again.
 */
import type { Logger } from '../../../kernel/logger.ts';
import { BlobMissingError } from '../../../ports/blobs.ts';
import { type ComputeDriver, ComputeError } from '../../../ports/compute.ts';
import type { FileToSend } from '../../../ports/host-files.ts';

/** A customer's ISO image as this machine can read it. Throws `refused` if there is none. */
export type FindIso = (sha256: string) => Promise<Pick<FileToSend, 'file' | 'read'>>;

export class LocalFiles {
  readonly #parts: {
    readonly local: Pick<ComputeDriver, 'files'>;
    readonly findIso: FindIso;
    readonly log: Logger;
  };
  readonly #running = new Set<string>();
  /** Failures that trying again does not mend, until they are reported. */
  readonly #failures = new Map<string, ComputeError>();

  constructor(parts: { local: Pick<ComputeDriver, 'files'>; findIso: FindIso; log: Logger }) {
    this.#parts = parts;
  }

  /** Starts to fetch the image unless it is on its way. Returns the error for the call that needs it. */
  request(sha256: string): ComputeError {
    const failure = this.#failures.get(sha256);
    this.#failures.delete(sha256);
    if (failure !== undefined) return failure;
    if (!this.#running.has(sha256)) {
      this.#running.add(sha256);
      this.#fetch(sha256)
        .catch((error: unknown) => this.#recordFailure(sha256, error))
        .finally(() => this.#running.delete(sha256));
    }
    return new ComputeError('waiting', 'the image is being fetched from the store of files');
  }

  async #fetch(sha256: string): Promise<void> {
    const { local, findIso } = this.#parts;
    if (local.files === undefined) throw new ComputeError('refused', 'this machine needs no files');
    const { file, read } = await findIso(sha256);
    const { state, bytes } = await local.files.find(file);
    if (state === 'ready' || state === 'receiving') return;
    await local.files.receive(file, bytes, read(bytes));
  }

  #recordFailure(sha256: string, error: unknown): void {
    this.#parts.log.warn({ err: error, image: sha256 }, 'image could not be fetched from the store of files');
    if (error instanceof BlobMissingError)
      this.#failures.set(sha256, new ComputeError('refused', 'the file of the image is missing'));
    if (error instanceof ComputeError && (error.fault === 'refused' || error.fault === 'host'))
      this.#failures.set(sha256, error);
  }
}

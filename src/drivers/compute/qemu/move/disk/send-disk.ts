/**
 * The source's side of a move of a volume or snapshot. This process reads the file and carries it to the
 * other host. If the process ends, so does the copy, and the next `send` starts again.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Duplex } from 'node:stream';
import { MINUTE_MS, SECOND_MS } from '../../../../../kernel/time.ts';
import { TimeoutError, withTimeout } from '../../../../../kernel/timeout.ts';
import { ComputeError } from '../../../../../ports/compute.ts';
import type { DiskMove, MoveEndpoint, MoveProgress } from '../../../../../ports/moves.ts';
import { openPeerStream } from '../../../host/peer.ts';
import type { QemuHost } from '../../host.ts';
import { readBackingImage } from '../../machine/isolation.ts';
import { flattenDisk } from '../../qcow2.ts';
import { withReservedSpace } from '../../storage/space-budget.ts';
import { eventOrClose } from '../messages.ts';
import { COPY_STREAM, readTargetState, tell } from './messages.ts';
import { markMoving, markSent, removeSent, sourcePath, unmarkMoving } from './source-disk.ts';

/** How long a call waits for the copy. */
const WAIT_MS = 2 * SECOND_MS;
/** The target reads the whole copy before it answers. */
const CHECK_MAX_MS = 60 * MINUTE_MS;
const STATE_MAX_MS = 20 * SECOND_MS;
const CHUNK_BYTES = 262_144;

/** `busy`: another process of this host sends it, or did until a moment ago. */
type Outcome = 'sent' | 'busy';

interface Copy {
  readonly done: Promise<Outcome>;
  readonly abort: AbortController;
  copiedBytes: number;
  totalBytes: number;
}

interface Content {
  readonly path: string;
  /** SHA-256 of the image below it. */
  readonly base: string | null;
}

export class DiskSender {
  readonly #host: QemuHost;
  /** By the ids of their moves. */
  readonly #copies = new Map<string, Copy>();

  constructor(host: QemuHost) {
    this.#host = host;
  }

  async send(move: DiskMove, to: MoveEndpoint): Promise<MoveProgress> {
    const { phase } = await markMoving(this.#host, move);
    const copy = phase === 'sent' ? null : (this.#copies.get(move.id) ?? this.#start(move, to));
    const bytes = () => ({ copiedBytes: copy?.copiedBytes ?? 0, totalBytes: copy?.totalBytes ?? 0 });
    if (copy === null) return { state: 'sent', ...bytes(), message: null };
    try {
      const outcome = await withTimeout(copy.done, WAIT_MS);
      this.#copies.delete(move.id);
      if (outcome === 'busy') return { state: 'copying', ...bytes(), message: null };
      await markSent(this.#host, move);
      return { state: 'sent', ...bytes(), message: null };
    } catch (error) {
      if (error instanceof TimeoutError) return { state: 'copying', ...bytes(), message: null };
      this.#copies.delete(move.id);
      if (!(error instanceof ComputeError)) throw error;
      return { state: 'failed', ...bytes(), message: error.message };
    }
  }

  async keep(move: DiskMove): Promise<void> {
    await this.#end(move.id);
    await unmarkMoving(this.#host, move);
  }

  async forget(move: DiskMove): Promise<void> {
    await this.#end(move.id);
    await removeSent(this.#host, move);
  }

  async #end(moveId: string): Promise<void> {
    const copy = this.#copies.get(moveId);
    copy?.abort.abort();
    await copy?.done.catch(() => undefined);
    this.#copies.delete(moveId);
  }

  #start(move: DiskMove, to: MoveEndpoint): Copy {
    const abort = new AbortController();
    const copy: Copy = { abort, copiedBytes: 0, totalBytes: 0, done: Promise.resolve('busy') };
    const done = this.#copy(move, to, copy);
    // The next call reports what fails.
    done.catch(() => undefined);
    const started = Object.assign(copy, { done });
    this.#copies.set(move.id, started);
    return started;
  }

  async #copy(move: DiskMove, to: MoveEndpoint, copy: Copy): Promise<Outcome> {
    const path = sourcePath(this.#host, move);
    const image = await readBackingImage(this.#host, path);
    const base = image === null ? null : basename(image, '.qcow2');
    if (base !== null && move.disk.kind === 'volume')
      throw new ComputeError('refused', 'the volume refers to another file');
    const outcome = await this.#offer({ path, base }, { move, to, copy });
    if (outcome !== 'no_base') return outcome;
    const flat = await this.#flatten(move, { path, image });
    try {
      const again = await this.#offer({ path: flat, base: null }, { move, to, copy });
      return again === 'no_base' ? 'busy' : again;
    } finally {
      await rm(flat, { force: true });
    }
  }

  /** Makes a copy of the snapshot that needs no image. */
  async #flatten(
    move: DiskMove,
    { path, image }: { readonly path: string; readonly image: string | null },
  ): Promise<string> {
    const { layout } = this.#host;
    const flat = layout.movedDisk(move.id, 'flat');
    await mkdir(layout.moves(), { recursive: true, mode: 0o700 });
    const sizes = [path, ...(image === null ? [] : [image])].map(async (each) => (await stat(each)).size);
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    await withReservedSpace(this.#host, { folder: layout.moves(), bytes }, async () => undefined);
    await flattenDisk(this.#host, { path, image, to: flat });
    return flat;
  }

  async #offer(
    { path, base }: Content,
    { move, to, copy }: { readonly move: DiskMove; readonly to: MoveEndpoint; readonly copy: Copy },
  ): Promise<Outcome | 'no_base'> {
    const { size: bytes } = await stat(path);
    copy.totalBytes = bytes;
    const stream = await openPeerStream(to.address, move, COPY_STREAM);
    const cancel = () => stream.destroy();
    copy.abort.signal.addEventListener('abort', cancel);
    if (copy.abort.signal.aborted) cancel();
    try {
      tell(stream, { bytes, base });
      const state = await withTimeout(readTargetState(stream), STATE_MAX_MS, noAnswer);
      if (state === 'no_base') return state;
      if (state !== 'ready') return state === 'complete' ? 'sent' : 'busy';
      await writeContent(stream, { path, bytes, copy });
      const last = await withTimeout(readTargetState(stream), CHECK_MAX_MS, noAnswer);
      return last === 'complete' ? 'sent' : 'busy';
    } finally {
      copy.abort.signal.removeEventListener('abort', cancel);
      stream.destroy();
    }
  }
}

function noAnswer(): ComputeError {
  return new ComputeError('transient', 'the other host does not answer');
}

async function writeContent(
  stream: Duplex,
  { path, bytes, copy }: { readonly path: string; readonly bytes: number; readonly copy: Copy },
): Promise<void> {
  const hash = createHash('sha256');
  const source = createReadStream(path, { end: bytes - 1, highWaterMark: CHUNK_BYTES });
  for await (const chunk of source as AsyncIterable<Buffer>) {
    hash.update(chunk);
    await writeChunk(stream, chunk);
    copy.copiedBytes += chunk.length;
  }
  if (copy.copiedBytes !== bytes) throw new ComputeError('transient', 'the disk could not be read');
  await writeChunk(stream, Buffer.from(hash.digest('hex')));
}

/** The target may end the stream at any time. */
async function writeChunk(stream: Duplex, chunk: Buffer): Promise<void> {
  if (stream.destroyed) throw new ComputeError('transient', 'the connection to the other host ended');
  if (stream.write(chunk)) return;
  await eventOrClose(stream, 'drain');
}

/** Reads a file from another host, over a stream whose key was made for this file alone. */
import type { Duplex } from 'node:stream';
import { withTimeout } from '../../../kernel/timeout.ts';
import { ComputeError } from '../../../ports/compute.ts';
import type { FileSource, HostFile } from '../../../ports/host-files.ts';
import { openPeerStream } from './peer.ts';
import { FILE_IDLE_MS } from './wire.ts';

/** A sender must send this much in the time that it may pause: 8 kB a second. */
const SLOWEST_BYTES = 262_144;

/**
 * The bytes from `offset` on. Throws `transient` if the other host is away, pauses, or is so slow that the
 * control plane is the better sender. The caller counts the bytes: the stream may end early.
 */
export async function* fetchFile(
  source: FileSource,
  { file, offset }: { readonly file: HostFile; readonly offset: number },
  { signal, idleMs = FILE_IDLE_MS }: { readonly signal: AbortSignal; readonly idleMs?: number | undefined },
): AsyncGenerator<Uint8Array> {
  // Everything arrived before, and only has to be checked.
  if (offset >= file.sizeBytes) return;
  const stream = await openPeerStream(source.address, source, `from-${offset}`);
  const cancel = () => stream.destroy();
  signal.addEventListener('abort', cancel);
  if (signal.aborted) cancel();
  try {
    yield* readSteadily(stream, idleMs);
  } finally {
    signal.removeEventListener('abort', cancel);
    stream.destroy();
  }
}

/** The bytes of the stream. Throws `transient` if the other host pauses, or is slow for that long. */
export async function* readSteadily(stream: Duplex, idleMs: number): AsyncGenerator<Uint8Array> {
  const chunks = (stream as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  let since = performance.now();
  let bytes = 0;
  for (;;) {
    const next = await withTimeout(chunks.next(), idleMs).catch(() => {
      throw new ComputeError('transient', 'the other host stopped sending the file');
    });
    if (next.done === true) return;
    bytes += next.value.length;
    yield next.value;
    if (performance.now() - since < idleMs) continue;
    if (bytes < SLOWEST_BYTES)
      throw new ComputeError('transient', 'the other host sends the file too slowly');
    since = performance.now();
    bytes = 0;
  }
}

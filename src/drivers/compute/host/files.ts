/**
 * Files on their way to a host: disks of images, and customers' ISO images. The control plane asks how much
 * the host has, and sends the rest as the body of a request. Its path has the file, the offset, and the
 * number of the call. HTTP/2 limits how far the sender is ahead, so neither side keeps much in memory.
 */
import { type ClientHttp2Stream, constants, type ServerHttp2Stream } from 'node:http2';
import { pipeline } from 'node:stream/promises';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { withTimeout } from '../../../kernel/timeout.ts';
import { ComputeError } from '../../../ports/compute.ts';
import type { FileSource, FileToSend, FileTransfer, HostFile } from '../../../ports/host-files.ts';
import { FILE_IDLE_MS, parseJson } from './wire.ts';

const Digest = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Bytes = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const FileSchema = Type.Object({
  kind: Type.Enum(['disk', 'rescue', 'iso']),
  sha256: Digest,
  sizeBytes: Bytes,
  image: Type.Union([
    Type.Object({ sha256: Digest, sizeBytes: Bytes, diskGb: Type.Integer({ minimum: 1 }) }),
    Type.Null(),
  ]),
});
const HeaderSchema = Type.Object({ call: Type.Integer({ minimum: 1 }), file: FileSchema, offset: Bytes });
const FileHeader = Compile(HeaderSchema);
export const FileBody = Compile(Type.Object({ file: FileSchema }));
export const FileAnswer = Compile(
  Type.Object({
    result: Type.Object({ state: Type.Enum(['absent', 'partial', 'receiving', 'ready']), bytes: Bytes }),
  }),
);
export const ReceivedAnswer = Compile(Type.Object({}));

const transfer = {
  id: Type.String({ pattern: '^[0-9a-f-]{36}$' }),
  key: Type.String({ pattern: '^[0-9a-f]{64}$' }),
};
const TransferSchema = Type.Object(transfer);
const SourceSchema = Type.Object({ ...transfer, address: Type.String({ minLength: 1, maxLength: 300 }) });
export const OfferBody = Compile(Type.Object({ file: FileSchema, transfer: TransferSchema }));
export const OfferAnswer = Compile(
  Type.Object({ result: Type.Object({ address: Type.String({ minLength: 1, maxLength: 300 }) }) }),
);
export const FetchBody = Compile(
  Type.Object({ call: Type.Integer({ minimum: 1 }), file: FileSchema, source: SourceSchema }),
);
/** Without `bytes`: the host has the file. */
export const FetchLine = Compile(Type.Object({ bytes: Type.Optional(Bytes) }));

export function encodeTransfer({ id, key }: FileTransfer): Static<typeof TransferSchema> {
  return { id, key: Buffer.from(key).toString('hex') };
}

export function transferOf({ id, key }: Static<typeof TransferSchema>): FileTransfer {
  return { id, key: Buffer.from(key, 'hex') };
}

export function sourceOf(source: Static<typeof SourceSchema>): FileSource {
  return { ...transferOf(source), address: source.address };
}

type FileHeader = Static<typeof HeaderSchema>;

export function encodeFileHeader({ call, file, offset }: FileHeader): string {
  const { kind, sha256, sizeBytes, image } = file;
  return encodeURIComponent(JSON.stringify({ call, offset, file: { kind, sha256, sizeBytes, image } }));
}

/** Returns null unless it names a file. A disk has an image, and an ISO has none. */
export function parseFileHeader(
  text: string,
): { readonly call: number; readonly file: HostFile; readonly offset: number } | null {
  const header = parseJson(decodeURIComponent(text));
  if (!FileHeader.Check(header)) return null;
  return (header.file.kind === 'iso') === (header.file.image === null) ? header : null;
}

/** The body on the host. Throws if the connection ends, or the sender pauses for too long. */
export async function* readFile(
  stream: ServerHttp2Stream,
  idleMs = FILE_IDLE_MS,
): AsyncGenerator<Uint8Array> {
  const chunks = (stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>)[
    Symbol.asyncIterator
  ]();
  for (;;) {
    const next = await withTimeout(chunks.next(), idleMs).catch(() => {
      throw new ComputeError('transient', 'the file ended early');
    });
    if (next.done === true) return;
    yield next.value;
  }
}

/** Sends the bytes from `offset` on. Ends early when the host answers early: its answer has the reason. */
export async function writeFile(
  stream: ClientHttp2Stream,
  { file, signal, onProgress, read }: FileToSend,
  offset: number,
): Promise<void> {
  const cancel = () => stream.close(constants.NGHTTP2_CANCEL);
  signal.addEventListener('abort', cancel);
  let bytes = offset;
  async function* counted(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      yield chunk;
      bytes += chunk.length;
      onProgress(bytes);
    }
  }
  try {
    if (offset >= file.sizeBytes) stream.end();
    else await pipeline(read(offset), counted, stream);
  } catch {
    cancel();
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

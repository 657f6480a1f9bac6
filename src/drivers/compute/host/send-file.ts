/** The control plane's side of files: it sends one to a host, or lets the host fetch it from another host. */
import { type ClientHttp2Stream, constants } from 'node:http2';
import { requireLeaseHeld } from '../../../kernel/faults/lease-context.ts';
import { SECOND_MS } from '../../../kernel/time.ts';
import { withTimeout } from '../../../kernel/timeout.ts';
import { ComputeError } from '../../../ports/compute.ts';
import type {
  FileOffer,
  FileSource,
  FileToFollow,
  FileToSend,
  FileTransfer,
  HostFile,
} from '../../../ports/host-files.ts';
import type { ConnectionOptions, HostConnection } from './connection.ts';
import {
  encodeFileHeader,
  encodeTransfer,
  FetchLine,
  FileAnswer,
  OfferAnswer,
  ReceivedAnswer,
  writeFile,
} from './files.ts';
import { readLines } from './read-stream.ts';
import { noValidAnswer, openStream, readAnswer, throwErrorOf } from './requests.ts';
import { PEER_FILES_VERSION, parseJson } from './wire.ts';

/** A host that has not stored the digest of a disk reads it first. */
const OFFER_TIMEOUT_MS = 30 * SECOND_MS;
const LINE_MAX_BYTES = 4_096;

export async function putFile(
  connection: HostConnection,
  { nextCall }: Pick<ConnectionOptions, 'nextCall'>,
  toSend: FileToSend,
): Promise<void> {
  const { file, onProgress } = toSend;
  const question = await openStream(connection, 'file', '/v1/find-file');
  question.end(JSON.stringify({ file }));
  const found = await readAnswer(connection, question);
  if (!FileAnswer.Check(found)) throw noValidAnswer(connection);
  const { state, bytes: offset } = found.result;
  if (state === 'ready') return;
  if (state === 'receiving')
    throw new ComputeError('transient', `host ${connection.name} is receiving this file already`);
  onProgress(offset);
  const call = await nextCall();
  await requireLeaseHeld();
  const stream = await openStream(connection, 'file', `/v1/file/${encodeFileHeader({ call, file, offset })}`);
  const sending = writeFile(stream, toSend, offset);
  try {
    if (!ReceivedAnswer.Check(await readAnswer(connection, stream))) throw noValidAnswer(connection);
  } finally {
    await sending;
  }
}

/** Asks the host to send the file to the host that has the key. Throws unless it does. */
export async function offerFile(
  connection: HostConnection,
  file: HostFile,
  transfer: FileTransfer,
): Promise<FileOffer> {
  await requireVersion(connection);
  const stream = await openStream(connection, 'file', '/v1/offer-file');
  const end = () => stream.close(constants.NGHTTP2_CANCEL);
  stream.end(JSON.stringify({ file, transfer: encodeTransfer(transfer) }));
  try {
    const lines = readLines(stream, { maxBytes: LINE_MAX_BYTES });
    const first = await withTimeout(lines.next(), OFFER_TIMEOUT_MS);
    const answer = parseJson(String(first.value));
    throwErrorOf(answer);
    if (!OfferAnswer.Check(answer)) throw noValidAnswer(connection);
    return { address: answer.result.address, end };
  } catch (error) {
    end();
    throw error instanceof ComputeError ? error : noValidAnswer(connection);
  }
}

/** Lets the host fetch the file from another one. Resolves when it has it. */
export async function letFetch(
  connection: HostConnection,
  { nextCall }: Pick<ConnectionOptions, 'nextCall'>,
  { file: followed, source }: { readonly file: FileToFollow; readonly source: FileSource },
): Promise<void> {
  const { file, signal, onProgress } = followed;
  await requireVersion(connection);
  const stream = await openStream(connection, 'file', '/v1/fetch-file');
  const cancel = () => stream.close(constants.NGHTTP2_CANCEL);
  signal.addEventListener('abort', cancel);
  try {
    const call = await nextCall();
    await requireLeaseHeld();
    const { address } = source;
    stream.end(JSON.stringify({ call, file, source: { address, ...encodeTransfer(source) } }));
    await followFetch(connection, stream, onProgress);
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

async function followFetch(
  connection: HostConnection,
  stream: ClientHttp2Stream,
  onProgress: FileToFollow['onProgress'],
): Promise<void> {
  try {
    for await (const line of readLines(stream, { maxBytes: LINE_MAX_BYTES })) {
      const answer = parseJson(line);
      throwErrorOf(answer);
      if (!FetchLine.Check(answer)) throw noValidAnswer(connection);
      if (answer.bytes === undefined) return;
      onProgress(answer.bytes);
    }
  } catch (error) {
    if (error instanceof ComputeError) throw error;
  }
  throw new ComputeError('transient', `the connection to host ${connection.name} ended during the call`);
}

/** An older host does not know these calls. */
async function requireVersion(connection: HostConnection): Promise<void> {
  if ((await connection.version()) >= PEER_FILES_VERSION) return;
  throw new ComputeError('transient', `Skerry on host ${connection.name} is too old to send files to others`);
}

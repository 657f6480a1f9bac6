/**
 * Sends bytes to a store of files, and reads them, by URLs that someone else signed. The URLs are secrets:
 * no error, log, or record has one.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SECOND_MS } from '../kernel/time.ts';
import { ComputeError } from '../ports/compute.ts';
import type { CopyPart } from '../ports/copies.ts';

/** How long the store may pause. */
const IDLE_MS = 30 * SECOND_MS;
/** Stores take at most 10,000 parts of one object, and at least 5 MiB for each but the last. */
const PARTS_MAX = 9_000;
const MIB = 1024 ** 2;
/** Answers of a store that has no such bytes. Waiting does not help. */
const MISSING: readonly number[] = [404, 416];

export function partBytesFor(sizeBytes: number, leastMib: number): number {
  return Math.max(leastMib, Math.ceil(sizeBytes / PARTS_MAX / MIB)) * MIB;
}

/** Computes the digests of a file in one pass over its bytes. */
export async function digestParts(
  content: AsyncIterable<Uint8Array>,
  partBytes: number,
): Promise<{ readonly sizeBytes: number; readonly sha256: string; readonly partMd5s: string[] }> {
  const whole = createHash('sha256');
  const partMd5s: string[] = [];
  let part = createHash('md5');
  let filledBytes = 0;
  let sizeBytes = 0;
  for await (const chunk of content) {
    whole.update(chunk);
    sizeBytes += chunk.length;
    for (let from = 0; from < chunk.length; ) {
      const slice = chunk.subarray(from, from + partBytes - filledBytes);
      part.update(slice);
      from += slice.length;
      filledBytes += slice.length;
      if (filledBytes < partBytes) continue;
      partMd5s.push(part.digest('hex'));
      part = createHash('md5');
      filledBytes = 0;
    }
  }
  if (filledBytes > 0) partMd5s.push(part.digest('hex'));
  return { sizeBytes, sha256: whole.digest('hex'), partMd5s };
}

/** Throws `transient` unless the store has exactly the bytes of the part afterward. */
export async function putPart(
  { url, sizeBytes, md5 }: Omit<CopyPart, 'offset'>,
  content: Readable,
  signal: AbortSignal,
): Promise<void> {
  const headers = { 'content-length': sizeBytes, 'content-md5': Buffer.from(md5, 'hex').toString('base64') };
  const request = open(url, { method: 'PUT', headers, signal });
  const answered = responseOf(request);
  answered.catch(() => undefined);
  // A store that refuses early closes the connection, and its answer has the reason.
  await pipeline(content, request).catch(() => undefined);
  const response = await answered;
  response.resume();
  if (response.statusCode !== 200) throw refusedBy(response);
  if (response.headers.etag?.replaceAll('"', '') !== md5)
    throw new ComputeError('transient', 'the file store returned another MD5 than that of the part');
}

/** The bytes from `offset` on. The caller counts them: the answer may end early. */
export async function* readSigned(
  url: string,
  offset: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const headers = offset === 0 ? {} : { range: `bytes=${offset}-` };
  const request = open(url, { method: 'GET', headers, signal });
  request.end();
  const response = await responseOf(request);
  try {
    const begins = response.headers['content-range']?.startsWith(`bytes ${offset}-`) ?? false;
    if (response.statusCode !== (offset === 0 ? 200 : 206) || (offset > 0 && !begins))
      throw refusedBy(response, MISSING.includes(response.statusCode ?? 0) ? 'host' : 'transient');
    yield* response as AsyncIterable<Buffer>;
  } catch (error) {
    throw error instanceof ComputeError ? error : brokeOff();
  } finally {
    response.destroy();
  }
}

function open(
  url: string,
  options: {
    readonly method: string;
    readonly headers: Record<string, string | number>;
    readonly signal: AbortSignal;
  },
): ClientRequest {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  const request = send(url, { ...options, timeout: IDLE_MS });
  request.on('timeout', () => request.destroy());
  return request;
}

async function responseOf(request: ClientRequest): Promise<IncomingMessage> {
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    // The request reports what breaks the connection later. Its reader notices that it ended early.
    request.on('error', () => undefined);
    return response;
  } catch {
    throw brokeOff();
  }
}

function brokeOff(): ComputeError {
  return new ComputeError('transient', 'the file store does not answer this host, or broke off');
}

function refusedBy({ statusCode }: IncomingMessage, fault: 'transient' | 'host' = 'transient'): ComputeError {
  return new ComputeError(fault, `the file store answered this host with HTTP ${statusCode}`);
}

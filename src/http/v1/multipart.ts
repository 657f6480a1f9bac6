/**
 * Receives `multipart/form-data` with one file as a stream: the file is hashed while it is written to disk,
 * and all other parts are bounded text. The domain interprets the parts. This file rejects unreadable,
 * oversized, and stalled bodies, and the first unknown part before its content is read. File names are
 * ignored.
 */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance as Parser } from '@fastify/busboy';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { CustomerActor, Service } from '../../domain/context.ts';
import { requireIdempotencyKey } from '../../domain/idempotency.ts';
import { isImagePart } from '../../domain/images/create.ts';
import {
  beginUpload,
  type ReceivedField,
  type ReceivedFile,
  type ReceivedUpload,
  type Upload,
} from '../../domain/images/upload.ts';
import { InvalidRequest } from '../../kernel/fail.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { idempotencyKeyHeader } from '../admission/once.ts';

const PARSER_LIMITS = { parts: 16, fields: 15, files: 1, fieldSize: 1024, headerPairs: 16, headerSize: 4096 };
/** Bytes allowed for the boundaries, headers, and text of all parts. */
const OVERHEAD_MAX_BYTES = 256 * 1024;
/** Bytes buffered in memory at each of two places between the socket and the disk. */
const BUFFER_BYTES = 64 * 1024;
/** How long a chunk may stay unread while no file is being written to disk. */
const STALL_TIMEOUT_MS = 1_000;
const NAME_MAX_CHARS = 255;
/** An event that we add to the parser's own: a part's header was read. It carries the part's name. */
const PART_EVENT = 'part';

/** Leaves the body of a multipart route for `receiveUpload`. Other routes reject this media type. */
export function skipMultipartParsing(scope: FastifyInstance): void {
  scope.addContentTypeParser('multipart/form-data', async (request: FastifyRequest) => {
    if (!request.routeOptions.config.v1?.multipart) {
      throw unreadableBody('Set the Content-Type of the body to application/json.');
    }
  });
}

/** The content that identifies an upload, to compare with the first one under its Idempotency-Key. */
export function uploadFingerprint({ fields, files, file }: ReceivedUpload): object {
  return { fields: fields.map(({ name, value }) => [name, value]), files, sha256: file?.sha256 ?? null };
}

export interface ReceiveOptions {
  /** Identifies a repeated upload. Defaults to the Idempotency-Key header. */
  readonly key?: string | undefined;
  /** How long the connection may be idle. */
  readonly idleMs?: number;
}

/**
 * Receives the whole body. Callers must always call `discard` on the result; after an error nothing remains.
 * Fails as `beginUpload` does, and with 400.
 */
export async function receiveUpload(
  request: FastifyRequest,
  service: Service,
  actor: CustomerActor,
  { key = idempotencyKeyHeader(request), idleMs = LIMITS.imageUploadIdleS * SECOND_MS }: ReceiveOptions = {},
): Promise<ReceivedUpload> {
  const { headers, raw } = request;
  const parser = createParser(request);
  const length = Number(headers['content-length'] ?? 0);
  if (key !== undefined) requireIdempotencyKey(key);
  const upload = await beginUpload(service, actor, {
    atLeastBytes: Math.max(length - OVERHEAD_MAX_BYTES, 0),
    key,
  });
  try {
    const { id, discard } = upload;
    return { id, discard, ...(await readParts(raw, { parser, upload, idleMs })) };
  } catch (error) {
    await upload.discard();
    throw error;
  }
}

function createParser({ headers }: FastifyRequest): Parser {
  try {
    if (!/^multipart\/form-data *;/i.test(headers['content-type'] ?? ''))
      throw new Error('unexpected media type');
    const parser: Parser = new Busboy({
      headers: headers as BusboyHeaders,
      highWaterMark: BUFFER_BYTES,
      fileHwm: BUFFER_BYTES,
      isPartAFile: (name) => {
        parser.emit(PART_EVENT, name);
        return name === 'file';
      },
      limits: PARSER_LIMITS,
    });
    return parser;
  } catch {
    throw unreadableBody('Set the Content-Type to multipart/form-data with a boundary.');
  }
}

type Parts = Pick<ReceivedUpload, 'fields' | 'file' | 'files'>;

/** Resolves when the body has ended and its file is on disk. Rejects at the first error. */
function readParts(
  raw: IncomingMessage,
  { parser, upload, idleMs }: { parser: Parser; upload: Upload; idleMs: number },
): Promise<Parts> {
  const fields: ReceivedField[] = [];
  let files = 0;
  let stream: Readable | null = null;
  let file: Promise<ReceivedFile> | null = null;
  let bytes = 0;
  let isFileReceived = false;
  let stopped = false;
  return new Promise((resolve, reject) => {
    const idle = setTimeout(() => stop(unreadableBody('The upload timed out: no data arrived.')), idleMs);
    // The parser skips a part without a name, and may stall in the middle of it.
    let lastProgressMs = performance.now();
    const stallCheck = setInterval(() => {
      const isStalled = parser.writableLength > 0 && performance.now() - lastProgressMs > STALL_TIMEOUT_MS;
      if (isStalled && (file === null || isFileReceived))
        stop(unreadableBody('A part has no readable name.'));
    }, STALL_TIMEOUT_MS / 2);
    const onData = (chunk: Buffer) => {
      idle.refresh();
      lastProgressMs = performance.now();
      bytes += chunk.length;
      if (bytes > LIMITS.imageUploadMaxBytes + OVERHEAD_MAX_BYTES) stop(fileTooLarge());
    };
    const onAbort = () => {
      if (!raw.complete) stop(unreadableBody('The connection closed before the body was complete.'));
    };
    function release(): void {
      clearTimeout(idle);
      clearInterval(stallCheck);
      raw.off('data', onData).off('close', onAbort).unpipe(parser);
    }
    function stop(error: Error): void {
      stopped = true;
      release();
      stream?.destroy(error);
      reject(error);
    }
    parser
      .on(PART_EVENT, (name: string | undefined) => {
        if (name === undefined) stop(unreadableBody('A part has no name.'));
        else if (!isImagePart(name)) stop(unknownPart(name));
      })
      .on('file', (_name, part) => {
        // Readers see the error; without any listener, it would end the process.
        part.on('error', () => undefined);
        // The parser still finishes its current chunk.
        if (stopped) return void part.resume();
        files += 1;
        stream = part;
        file = upload.receive(part);
        file.then(() => {
          isFileReceived = true;
        }, stop);
      })
      .on('filesLimit', () => {
        files += 1;
      })
      .on('field', (name, value) => {
        fields.push({ name, value });
      })
      .on('fieldsLimit', () =>
        stop(unreadableBody(`The body has more than ${PARSER_LIMITS.fields} text parts.`)),
      )
      .on('partsLimit', () => stop(unreadableBody(`The body has more than ${PARSER_LIMITS.parts} parts.`)))
      .on('error', () => stop(unreadableBody('The body is not valid multipart/form-data.')))
      .on('finish', () => {
        release();
        Promise.resolve(file).then((received) => resolve({ fields, files, file: received }), stop);
      });
    raw.on('error', onAbort).on('close', onAbort);
    if (raw.destroyed) onAbort();
    else raw.on('data', onData).pipe(parser);
  });
}

/** A 400 without a field: the body cannot be read. */
function unreadableBody(message: string): InvalidRequest {
  return new InvalidRequest([], message);
}

function unknownPart(name: string): InvalidRequest {
  return new InvalidRequest([{ field: name.slice(0, NAME_MAX_CHARS), issue: 'unknown_key' }]);
}

function fileTooLarge(): InvalidRequest {
  return new InvalidRequest([{ field: 'file', issue: 'max', max: LIMITS.imageUploadMaxBytes }]);
}

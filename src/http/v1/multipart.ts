/**
 * Receives `multipart/form-data` with one file, as a stream: the file goes to the disk piece by piece while it is hashed,
 * everything else is text and bounded. What the parts mean, the domain says; here is refused what cannot be read, what is
 * too large, what does not come, and the first part that nobody knows, before it is read. Names of files are not looked at.
 */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance as Parser } from '@fastify/busboy';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { CustomerActor, Service } from '../../domain/context.ts';
import { requireIdempotencyKey } from '../../domain/idempotency.ts';
import { isImagePart } from '../../domain/images/fields.ts';
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

const PARSER_LIMITS = { parts: 16, fields: 15, files: 1, fieldSize: 1024, headerPairs: 16, headerSize: 4096 };
/** Boundaries, headers and texts of all parts. */
const OVERHEAD_MAX_BYTES = 256 * 1024;
/** What is held in memory between the socket and the disk, at each of two places. */
const BUFFER_BYTES = 64 * 1024;
/** How long a piece that nobody takes may wait, while no file is on its way to the disk. */
const STALL_TIMEOUT_MS = 1_000;
const NAME_MAX_CHARS = 255;
/** What the parser tells of the head of each part, beside its own events: the part's name. */
const PART_EVENT = 'part';

/** Has the framework leave the body of a multipart route unread; elsewhere this media type is refused. */
export function skipMultipartParsing(scope: FastifyInstance): void {
  scope.addContentTypeParser('multipart/form-data', async (request: FastifyRequest) => {
    if (!request.routeOptions.config.v1?.multipart) {
      throw unreadableBody('The Content-Type of a body must be application/json.');
    }
  });
}

/** What tells one upload from another, for its Idempotency-Key. */
export function uploadFingerprint({ fields, files, file }: ReceivedUpload): object {
  return { fields: fields.map(({ name, value }) => [name, value]), files, sha256: file?.sha256 ?? null };
}

export interface ReceiveOptions {
  /** By which a repetition is recognised; the Idempotency-Key when left out. */
  readonly key?: string | undefined;
  /** How long nothing may come. */
  readonly idleMs?: number;
}

/**
 * Receives the whole body. Its caller calls `discard` of the result in any case; after a refusal nothing is left.
 * Refuses as `beginUpload` does, and with 400.
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

function idempotencyKeyHeader({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  return typeof key === 'string' ? key : undefined;
}

function createParser({ headers }: FastifyRequest): Parser {
  try {
    if (!/^multipart\/form-data *;/i.test(headers['content-type'] ?? ''))
      throw new Error('another media type');
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
    throw unreadableBody('The Content-Type must be multipart/form-data with a boundary.');
  }
}

type Parts = Pick<ReceivedUpload, 'fields' | 'file' | 'files'>;

/** Resolves when the body has ended and its file is on the disk; rejects at the first reason not to read on. */
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
    const idle = setTimeout(() => stop(unreadableBody('Nothing came for too long.')), idleMs);
    // The parser passes over a part that says no name, and may stop in the middle of it.
    let lastProgressMs = performance.now();
    const stallCheck = setInterval(() => {
      const isStalled = parser.writableLength > 0 && performance.now() - lastProgressMs > STALL_TIMEOUT_MS;
      if (isStalled && (file === null || isFileReceived))
        stop(unreadableBody('A part says no name that can be read.'));
    }, STALL_TIMEOUT_MS / 2);
    const onData = (chunk: Buffer) => {
      idle.refresh();
      lastProgressMs = performance.now();
      bytes += chunk.length;
      if (bytes > LIMITS.imageUploadMaxBytes + OVERHEAD_MAX_BYTES) stop(fileTooLarge());
    };
    const onAbort = () => {
      if (!raw.complete) stop(unreadableBody('The connection ended before the body did.'));
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
        // Whoever reads it hears of an error; one that is told when nobody reads would end the process.
        part.on('error', () => undefined);
        // The parser finishes the piece that it is at, whatever we say.
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
        stop(unreadableBody(`There are more than ${PARSER_LIMITS.fields} text parts.`)),
      )
      .on('partsLimit', () => stop(unreadableBody(`There are more than ${PARSER_LIMITS.parts} parts.`)))
      .on('error', () => stop(unreadableBody('The body is not what its boundary says.')))
      .on('finish', () => {
        release();
        Promise.resolve(file).then((received) => resolve({ fields, files, file: received }), stop);
      });
    raw.on('error', onAbort).on('close', onAbort);
    if (raw.destroyed) onAbort();
    else raw.on('data', onData).pipe(parser);
  });
}

/** 400 that names no field: the body cannot be read. */
function unreadableBody(message: string): InvalidRequest {
  return new InvalidRequest([], message);
}

function unknownPart(name: string): InvalidRequest {
  return new InvalidRequest([{ field: name.slice(0, NAME_MAX_CHARS), issue: 'unknown_key' }]);
}

function fileTooLarge(): InvalidRequest {
  return new InvalidRequest([{ field: 'file', issue: 'max', max: LIMITS.imageUploadMaxBytes }]);
}

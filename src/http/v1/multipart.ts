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
import { requireKey } from '../../domain/idempotency.ts';
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

const BOUNDS = { parts: 16, fields: 15, files: 1, fieldSize: 1024, headerPairs: 16, headerSize: 4096 };
/** Boundaries, headers and texts of all parts. */
const AROUND_FILE_MAX_BYTES = 256 * 1024;
/** What is held in memory between the socket and the disk, at each of two places. */
const HELD_BYTES = 64 * 1024;
/** How long a piece that nobody takes may wait, while no file is on its way to the disk. */
const STALLED_MS = 1_000;
const NAME_MAX_CHARS = 255;
/** What the parser tells of the head of each part, beside its own events: the part's name. */
const PART = 'part';

/** Has the framework leave the body of a multipart route unread; elsewhere this media type is refused. */
export function leaveMultipart(scope: FastifyInstance): void {
  scope.addContentTypeParser('multipart/form-data', async (request: FastifyRequest) => {
    if (!request.routeOptions.config.v1?.multipart) {
      throw unreadable('The Content-Type of a body must be application/json.');
    }
  });
}

/** What tells one upload from another, for its Idempotency-Key. */
export function uploadBody({ fields, files, file }: ReceivedUpload): object {
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
  { key = headerKey(request), idleMs = LIMITS.imageUploadIdleS * SECOND_MS }: ReceiveOptions = {},
): Promise<ReceivedUpload> {
  const { headers, raw } = request;
  const parser = parserFor(request);
  const length = Number(headers['content-length'] ?? 0);
  if (key !== undefined) requireKey(key);
  const upload = await beginUpload(service, actor, {
    atLeastBytes: Math.max(length - AROUND_FILE_MAX_BYTES, 0),
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

function headerKey({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  return typeof key === 'string' ? key : undefined;
}

function parserFor({ headers }: FastifyRequest): Parser {
  try {
    if (!/^multipart\/form-data *;/i.test(headers['content-type'] ?? ''))
      throw new Error('another media type');
    const parser: Parser = new Busboy({
      headers: headers as BusboyHeaders,
      highWaterMark: HELD_BYTES,
      fileHwm: HELD_BYTES,
      isPartAFile: (name) => {
        parser.emit(PART, name);
        return name === 'file';
      },
      limits: BOUNDS,
    });
    return parser;
  } catch {
    throw unreadable('The Content-Type must be multipart/form-data with a boundary.');
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
  let received = false;
  let stopped = false;
  return new Promise((resolve, reject) => {
    const idle = setTimeout(() => stop(unreadable('Nothing came for too long.')), idleMs);
    // The parser passes over a part that says no name, and may stop in the middle of it.
    let movedMs = performance.now();
    const stalled = setInterval(() => {
      const still = parser.writableLength > 0 && performance.now() - movedMs > STALLED_MS;
      if (still && (file === null || received)) stop(unreadable('A part says no name that can be read.'));
    }, STALLED_MS / 2);
    const count = (chunk: Buffer) => {
      idle.refresh();
      movedMs = performance.now();
      bytes += chunk.length;
      if (bytes > LIMITS.imageUploadMaxBytes + AROUND_FILE_MAX_BYTES) stop(tooLarge());
    };
    const cut = () => {
      if (!raw.complete) stop(unreadable('The connection ended before the body did.'));
    };
    function release(): void {
      clearTimeout(idle);
      clearInterval(stalled);
      raw.off('data', count).off('close', cut).unpipe(parser);
    }
    function stop(error: Error): void {
      stopped = true;
      release();
      stream?.destroy(error);
      reject(error);
    }
    parser
      .on(PART, (name: string | undefined) => {
        if (name === undefined) stop(unreadable('A part has no name.'));
        else if (!isImagePart(name)) stop(unknown(name));
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
          received = true;
        }, stop);
      })
      .on('filesLimit', () => {
        files += 1;
      })
      .on('field', (name, value) => {
        fields.push({ name, value });
      })
      .on('fieldsLimit', () => stop(unreadable(`There are more than ${BOUNDS.fields} text parts.`)))
      .on('partsLimit', () => stop(unreadable(`There are more than ${BOUNDS.parts} parts.`)))
      .on('error', () => stop(unreadable('The body is not what its boundary says.')))
      .on('finish', () => {
        release();
        Promise.resolve(file).then((received) => resolve({ fields, files, file: received }), stop);
      });
    raw.on('error', cut).on('close', cut);
    if (raw.destroyed) cut();
    else raw.on('data', count).pipe(parser);
  });
}

/** 400 that names no field: the body cannot be read. */
function unreadable(message: string): InvalidRequest {
  return new InvalidRequest([], message);
}

function unknown(name: string): InvalidRequest {
  return new InvalidRequest([{ field: name.slice(0, NAME_MAX_CHARS), issue: 'unknown_key' }]);
}

function tooLarge(): InvalidRequest {
  return new InvalidRequest([{ field: 'file', issue: 'max', max: LIMITS.imageUploadMaxBytes }]);
}

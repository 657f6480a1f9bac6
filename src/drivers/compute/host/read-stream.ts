/** Reads the body of an HTTP/2 stream, within a size and a time. */
import type { Http2Stream } from 'node:http2';
import { withTimeout } from '../../../kernel/timeout.ts';
import { BodyTooLargeError } from '../../read-bounded.ts';

export interface BodyLimits {
  readonly maxBytes: number;
  /** Omitted: the caller limits the time. */
  readonly timeoutMs?: number;
}

/** Throws `BodyTooLargeError`, `TimeoutError`, or the stream's error. */
export async function readStream(stream: Http2Stream, { maxBytes, timeoutMs }: BodyLimits): Promise<string> {
  const reading = readAll(stream, maxBytes);
  return timeoutMs === undefined ? await reading : await withTimeout(reading, timeoutMs);
}

/** Reads lines that arrive one by one. Throws `BodyTooLargeError` for a long one, or the stream's error. */
export async function* readLines(
  stream: Http2Stream,
  { maxBytes }: Pick<BodyLimits, 'maxBytes'>,
): AsyncGenerator<string> {
  let rest = '';
  stream.setEncoding('utf8');
  for await (const part of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<string>) {
    const lines = `${rest}${part}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
    if (rest.length > maxBytes) throw new BodyTooLargeError(`more than ${maxBytes} bytes`);
  }
  if (rest !== '') yield rest;
}

async function readAll(stream: Http2Stream, maxBytes: number): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > maxBytes) throw new BodyTooLargeError(`more than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

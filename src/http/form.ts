/** Form bodies of the session surface. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Failure, fail } from '../kernel/fail.ts';
import { LIMITS } from '../spec/limits.ts';

/** Fields by name. A Map: no name a caller may think of meets anything but fields. */
export type Form = ReadonlyMap<string, string>;

/** A body as far as it could be read; the refusal is thrown once it is known who is asking. */
export type FormBody = Form | Failure;

const FORM_TYPE = 'application/x-www-form-urlencoded';
/** How much of a body that is too large is still taken in, so that its sender hears the answer. */
const DRAINED_MAX_BYTES = 4 * 1024 ** 2;

/** The field as typed, or an empty text. */
export function field(form: Form, name: string): string {
  return form.get(name) ?? '';
}

/** Fields of `a=1&b=2`; a repeated field or bytes that are no text are refused with `bad_request`. */
function parseForm(text: string): Form {
  const form = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    // U+FFFD is what undecodable bytes become.
    if (/[\0\uFFFD]/.test(name + value)) {
      fail('bad_request', {}, 'A field is not valid UTF-8, or holds a NUL character.');
    }
    if (form.has(name)) fail('bad_request', { field: name.slice(0, 64) }, 'A field is given twice.');
    form.set(name, value);
  }
  return form;
}

/** Reads a form body; what is wrong with it is returned, not thrown. */
export async function readForm(
  payload: Readable,
  headers: IncomingHttpHeaders,
  maxBytes: number = LIMITS.formBodyMaxBytes,
): Promise<FormBody> {
  // What is announced as far too large is not waited for.
  if (Number(headers['content-length'] ?? 0) > DRAINED_MAX_BYTES) return tooLarge();
  const bytes = await readUpTo(payload, maxBytes);
  if (bytes === undefined) return tooLarge();
  if (bytes.length === 0) return new Map();
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== FORM_TYPE) return new Failure('bad_request', {}, `The body must be ${FORM_TYPE}.`);
  try {
    return parseForm(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    return error instanceof Failure ? error : new Failure('bad_request', {}, 'The body is not valid UTF-8.');
  }
}

function tooLarge(): Failure {
  return new Failure('bad_request', {}, 'The body is too large.');
}

/** The bytes, or undefined when there are more than `maxBytes`. */
async function readUpTo(payload: Readable, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of payload as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= maxBytes) chunks.push(chunk);
    else if (length > DRAINED_MAX_BYTES) fail('bad_request', {}, 'The body is too large.');
  }
  return length <= maxBytes ? Buffer.concat(chunks) : undefined;
}

/** The fields of a URL's query. */
export function parseQuery(url: string): Form {
  const start = url.indexOf('?');
  return parseForm(start < 0 ? '' : url.slice(start + 1));
}

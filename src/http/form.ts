/** Form bodies of the session surface. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Failure, fail } from '../kernel/fail.ts';

/** Fields by name. A Map, so that no field name can collide with built-in properties. */
export type Form = ReadonlyMap<string, string>;

/** A parsed body, or the failure to parse it, which is thrown only after the caller is identified. */
export type FormBody = Form | Failure;

const FORM_TYPE = 'application/x-www-form-urlencoded';
/** How much of an oversized body is still read, so that the client receives the response. */
const DRAINED_MAX_BYTES = 4 * 1024 ** 2;

/** Returns the field as typed, or an empty text. */
export function field(form: Form, name: string): string {
  return form.get(name) ?? '';
}

/** Returns the field as a key to look up: empty, which finds nothing, if it contains NUL. */
export function lookupField(form: Form, name: string): string {
  const key = field(form, name);
  return key.includes('\0') ? '' : key;
}

export interface FormRules {
  readonly maxBytes: number;
  /**
   * Whether a value may contain NUL. Its field's own rule then refuses it; what a lookup takes is a
   * `lookupField`, because the database cannot store NUL.
   */
  readonly allowNul: boolean;
}

/** Parses `a=1&b=2`. A repeated field, or bytes that are not text, fail with `bad_request`. */
function parseForm(text: string, { allowNul }: Pick<FormRules, 'allowNul'>): Form {
  requireUtf8(text);
  const form = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (name.includes('\0') || (!allowNul && value.includes('\0'))) {
      fail('bad_request', {}, 'A field contains a NUL character.');
    }
    if (form.has(name)) fail('bad_request', { field: name.slice(0, 64) }, 'A field appears more than once.');
    form.set(name, value);
  }
  return form;
}

/**
 * Fails if the bytes of `%…` are not UTF-8. URLSearchParams decodes them to U+FFFD, which a field may also
 * contain. A `%` before anything but two digits stands for itself.
 */
function requireUtf8(text: string): void {
  try {
    decodeURIComponent(text.replace(/%(?![0-9a-f]{2})/gi, '%25'));
  } catch {
    fail('bad_request', {}, 'A field is not valid UTF-8.');
  }
}

/** Reads a form body. Returns a failure instead of throwing it. */
export async function readForm(
  payload: Readable,
  headers: IncomingHttpHeaders,
  rules: FormRules,
): Promise<FormBody> {
  // Do not wait for a body that is announced as far too large.
  if (Number(headers['content-length'] ?? 0) > DRAINED_MAX_BYTES) return tooLarge();
  const bytes = await readUpTo(payload, rules.maxBytes);
  if (bytes === undefined) return tooLarge();
  if (bytes.length === 0) return new Map();
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== FORM_TYPE) {
    return new Failure('bad_request', {}, `Set the Content-Type of the body to ${FORM_TYPE}.`);
  }
  try {
    return parseForm(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), rules);
  } catch (error) {
    return error instanceof Failure ? error : new Failure('bad_request', {}, 'The body is not valid UTF-8.');
  }
}

function tooLarge(): Failure {
  return new Failure('bad_request', {}, 'The body is too large.');
}

/** Returns the bytes, or undefined if there are more than `maxBytes`. */
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

/** Parses the query of a URL. */
export function parseQuery(url: string, rules: Pick<FormRules, 'allowNul'> = { allowNul: false }): Form {
  const start = url.indexOf('?');
  return parseForm(start < 0 ? '' : url.slice(start + 1), rules);
}

/**
 * Parses the bodies of panel forms. Most are read whole. A form with a file sends its other fields first,
 * starting with the CSRF token. Only those are read here, into a small buffer, so that the sender is
 * identified and admitted before the file is read. The upload handler then reads the rest of the body, which
 * starts at a boundary.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Failure } from '../../kernel/fail.ts';
import { LIMITS } from '../../spec/limits.ts';
import { PANEL_FIELDS } from '../../spec/paths.ts';
import { type FormBody, type FormRules, readForm } from '../form.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The page has a form that uploads a file. */
    readonly takesFile?: true;
  }
}

/** Of a route with such a form: how long its body takes is watched by those who read it. */
export const FILE_UPLOAD_CONFIG = { takesFile: true, slowBody: true } as const;

/** Browsers send no NUL. */
const FORM_RULES: FormRules = { maxBytes: LIMITS.panelFormBodyMaxBytes, allowNul: false };
/** The fields that must come first, in this order. */
const LEADING_FIELDS = [PANEL_FIELDS.csrf, PANEL_FIELDS.form, PANEL_FIELDS.idempotencyKey];
const FIELDS_MAX = 16;
const VALUE_MAX_BYTES = 1024;
const LEADING_MAX_BYTES = 32 * 1024;
const LEADING_TIMEOUT_MS = 60_000;

export function registerBodyParsers(scope: FastifyInstance): void {
  scope.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) =>
    request.routeOptions.config.takesFile
      ? unreadableBody()
      : await readForm(payload, request.headers, FORM_RULES),
  );
  scope.addContentTypeParser('multipart/form-data', async (request: FastifyRequest, payload: Readable) =>
    request.routeOptions.config.takesFile
      ? await readLeadingFields(payload, request.headers)
      : await readForm(payload, request.headers, FORM_RULES),
  );
}

/** Reads the fields before the file. Returns a failure instead of throwing it. */
export function readLeadingFields(raw: Readable, headers: IncomingHttpHeaders): Promise<FormBody> {
  const boundary = boundaryOf(headers);
  return new Promise((resolve) => {
    let bytes: Buffer = Buffer.alloc(0);
    const timer = setTimeout(() => end(unreadableBody()), LEADING_TIMEOUT_MS);
    const onAbort = () => end(unreadableBody());
    function end(body: FormBody): void {
      clearTimeout(timer);
      raw.off('readable', onReadable).off('end', onAbort).off('close', onAbort).off('error', onAbort);
      resolve(body);
    }
    function onReadable(): void {
      const more = raw.read() as Buffer | null;
      if (more === null) return;
      bytes = Buffer.concat([bytes, more]);
      const leading = boundary === null ? null : parseLeadingFields(bytes, boundary);
      if (leading) {
        // Unshift in the same tick: after the `end` event, data can no longer be put back.
        raw.unshift(bytes.subarray(leading.length));
        end(leading.body);
      } else if (boundary === null || bytes.length > LEADING_MAX_BYTES) end(unreadableBody());
    }
    raw.on('readable', onReadable).on('end', onAbort).on('close', onAbort).on('error', onAbort);
    if (raw.destroyed) onAbort();
  });
}

function boundaryOf(headers: IncomingHttpHeaders): string | null {
  const [, quoted, plain] =
    /; *boundary=(?:"([^"\r\n]{1,70})"|([^\s;,"]{1,70}))/i.exec(headers['content-type'] ?? '') ?? [];
  return quoted ?? plain ?? null;
}

interface LeadingFields {
  readonly body: FormBody;
  /** The length of these fields in bytes. */
  readonly length: number;
}

/** Parses the fields up to the file or the end. Returns null if more bytes are needed. */
function parseLeadingFields(bytes: Buffer, boundary: string): LeadingFields | null {
  const delimiter = Buffer.from(`--${boundary}`, 'latin1');
  const form = new Map<string, string>();
  const unreadableResult = { body: unreadableBody(), length: bytes.length };
  for (let at = 0; ; ) {
    const head = at + delimiter.length;
    if (bytes.length < head + 2) return null;
    if (!bytes.subarray(at, head).equals(delimiter)) return unreadableResult;
    const after = bytes.toString('latin1', head, head + 2);
    if (after === '--') return { body: form, length: at };
    if (after !== '\r\n') return unreadableResult;
    const headEnd = bytes.indexOf('\r\n\r\n', head);
    if (headEnd < 0) return null;
    const part = bytes.toString('latin1', head, headEnd);
    const name = /^content-disposition: *form-data *;[^\r\n]*?\bname="([^"\r\n]*)"/im.exec(part)?.[1];
    // A form that does not begin with a token is refused as forged.
    if (name === 'file' || (at === 0 && name !== PANEL_FIELDS.csrf)) return { body: form, length: at };
    const valueEnd = bytes.indexOf(Buffer.concat([Buffer.from('\r\n'), delimiter]), headEnd + 4);
    if (valueEnd < 0) return null;
    if (!addField(form, name, bytes.subarray(headEnd + 4, valueEnd))) return unreadableResult;
    at = valueEnd + 2;
  }
}

function addField(form: Map<string, string>, name: string | undefined, bytes: Buffer): boolean {
  if (name === undefined || form.has(name) || form.size >= FIELDS_MAX) return false;
  if (form.size < LEADING_FIELDS.length && name !== LEADING_FIELDS[form.size]) return false;
  const value = decodeText(bytes);
  if (value === null) return false;
  form.set(name, value);
  return true;
}

function decodeText(bytes: Buffer): string | null {
  if (bytes.length > VALUE_MAX_BYTES || bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function unreadableBody(): Failure {
  return new Failure('bad_request', {}, 'The form could not be read. Reload the page and try again.');
}

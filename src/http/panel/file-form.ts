/**
 * Bodies of the panel's forms. Most are read whole. One with a file begins with the form's other fields, its CSRF value first:
 * only they are read here, into a small space, so that it is known who sends what, and whether he may, before the file is
 * looked at. Whoever takes the file finds the rest of the body where it was, beginning with a boundary like any other.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Failure } from '../../kernel/fail.ts';
import { LIMITS } from '../../spec/limits.ts';
import { PANEL_FIELDS } from '../../spec/paths.ts';
import { type FormBody, readForm } from '../form.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A form of the page brings a file. */
    readonly takesFile?: true;
  }
}

/** Of a route with such a form: how long its body takes is watched by those who read it. */
export const TAKES_A_FILE = { takesFile: true, slowBody: true } as const;

/** What comes before anything else. */
const FIRST = [PANEL_FIELDS.csrf, PANEL_FIELDS.form, PANEL_FIELDS.once];
const FIELDS_MAX = 16;
const VALUE_MAX_BYTES = 1024;
const LEAD_MAX_BYTES = 32 * 1024;
const LEAD_MAX_MS = 60_000;

export function readBodies(scope: FastifyInstance): void {
  scope.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) =>
    request.routeOptions.config.takesFile
      ? unreadable()
      : await readForm(payload, request.headers, LIMITS.panelFormBodyMaxBytes),
  );
  scope.addContentTypeParser('multipart/form-data', async (request: FastifyRequest, payload: Readable) =>
    request.routeOptions.config.takesFile
      ? await readLead(payload, request.headers)
      : await readForm(payload, request.headers, LIMITS.panelFormBodyMaxBytes),
  );
}

/** The fields before the file; what is wrong with them is returned, not thrown. */
export function readLead(raw: Readable, headers: IncomingHttpHeaders): Promise<FormBody> {
  const boundary = boundaryOf(headers);
  return new Promise((resolve) => {
    let bytes: Buffer = Buffer.alloc(0);
    const late = setTimeout(() => end(unreadable()), LEAD_MAX_MS);
    const cut = () => end(unreadable());
    function end(body: FormBody): void {
      clearTimeout(late);
      raw.off('readable', take).off('end', cut).off('close', cut).off('error', cut);
      resolve(body);
    }
    function take(): void {
      const more = raw.read() as Buffer | null;
      if (more === null) return;
      bytes = Buffer.concat([bytes, more]);
      const lead = boundary === null ? null : leadIn(bytes, boundary);
      if (lead) {
        // In the same turn: once the end has been told of, nothing can be put back.
        raw.unshift(bytes.subarray(lead.length));
        end(lead.body);
      } else if (boundary === null || bytes.length > LEAD_MAX_BYTES) end(unreadable());
    }
    raw.on('readable', take).on('end', cut).on('close', cut).on('error', cut);
    if (raw.destroyed) cut();
  });
}

function boundaryOf(headers: IncomingHttpHeaders): string | null {
  const [, quoted, plain] =
    /; *boundary=(?:"([^"\r\n]{1,70})"|([^\s;,"]{1,70}))/i.exec(headers['content-type'] ?? '') ?? [];
  return quoted ?? plain ?? null;
}

interface Lead {
  readonly body: FormBody;
  /** How many bytes it takes. */
  readonly length: number;
}

/** The fields up to the file or the end; null: more bytes are needed. */
function leadIn(bytes: Buffer, boundary: string): Lead | null {
  const mark = Buffer.from(`--${boundary}`, 'latin1');
  const form = new Map<string, string>();
  const refused = { body: unreadable(), length: bytes.length };
  for (let at = 0; ; ) {
    const head = at + mark.length;
    if (bytes.length < head + 2) return null;
    if (!bytes.subarray(at, head).equals(mark)) return refused;
    const after = bytes.toString('latin1', head, head + 2);
    if (after === '--') return { body: form, length: at };
    if (after !== '\r\n') return refused;
    const headEnd = bytes.indexOf('\r\n\r\n', head);
    if (headEnd < 0) return null;
    const part = bytes.toString('latin1', head, headEnd);
    const name = /^content-disposition: *form-data *;[^\r\n]*?\bname="([^"\r\n]*)"/im.exec(part)?.[1];
    if (name === 'file') return { body: form, length: at };
    const valueEnd = bytes.indexOf(Buffer.concat([Buffer.from('\r\n'), mark]), headEnd + 4);
    if (valueEnd < 0) return null;
    if (!takeField(form, name, bytes.subarray(headEnd + 4, valueEnd))) return refused;
    at = valueEnd + 2;
  }
}

function takeField(form: Map<string, string>, name: string | undefined, bytes: Buffer): boolean {
  if (name === undefined || form.has(name) || form.size >= FIELDS_MAX) return false;
  if (form.size < FIRST.length && name !== FIRST[form.size]) return false;
  const value = textOf(bytes);
  if (value === null) return false;
  form.set(name, value);
  return true;
}

function textOf(bytes: Buffer): string | null {
  if (bytes.length > VALUE_MAX_BYTES || bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function unreadable(): Failure {
  return new Failure('bad_request', {}, 'The body must be this page’s form with its file at the end.');
}

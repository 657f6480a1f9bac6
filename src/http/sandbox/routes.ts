/** `/sandbox/*` (DESIGN "Operating contract"): JSON in, JSON out; absent on a live database. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isLoopbackHost } from '../../kernel/address-safety.ts';
import { Failure, fail } from '../../kernel/fail.ts';
import { isPrintable } from '../../kernel/printable.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import { FAILURES } from '../../spec/errors.ts';
import { LIMITS } from '../../spec/limits.ts';
import { isCrossSite } from '../admission/csrf.ts';
import { isHost } from '../base-url.ts';
import type { SandboxControl } from './control.ts';

/** Ten years. A larger value is a typing error. */
const ADVANCE_MAX_S = 10 * 366 * 86_400;

type Body = Readonly<Record<string, unknown>>;

interface SandboxRoute {
  /** All fields that its body may contain. */
  readonly fields: readonly string[];
  readonly act: (control: SandboxControl, body: Body) => Promise<object>;
}

const SANDBOX_ROUTES: Readonly<Record<string, SandboxRoute>> = {
  payments: {
    fields: ['coin', 'address', 'amount'],
    act: (control, body) =>
      control.pay({
        coin: readText(body, 'coin'),
        address: readText(body, 'address'),
        amount: readDecimal(body, 'amount'),
      }),
  },
  blocks: {
    fields: ['coin', 'count'],
    act: (control, body) =>
      control.mine({ coin: readText(body, 'coin'), count: readInteger(body, 'count', 1, 1_000) }),
  },
  reorgs: {
    fields: ['coin', 'depth', 'drop'],
    act: (control, body) =>
      control.reorg({
        coin: readText(body, 'coin'),
        depth: readInteger(body, 'depth', 1, 1_000),
        drop: readBoolean(body, 'drop'),
      }),
  },
  rates: {
    fields: ['coin', 'usd'],
    act: async (control, body) => {
      await control.setRate({ coin: readText(body, 'coin'), usd: readDecimal(body, 'usd') });
      return {};
    },
  },
  faults: {
    fields: ['driver', 'operation', 'times'],
    act: async (control, body) => {
      const times = readInteger(body, 'times', 0, 1_000_000);
      await control.setFault({
        driver: readText(body, 'driver'),
        operation: readText(body, 'operation'),
        times,
      });
      return {};
    },
  },
  clock: {
    fields: ['advance_s'],
    act: async (control, body) => {
      const now = await control.advanceClock(readNumber(body, 'advance_s', 0, ADVANCE_MAX_S) * 1_000);
      return { now: formatRfc3339(now) };
    },
  },
  settle: {
    fields: [],
    act: async (control) => {
      await control.settle();
      return {};
    },
  },
};

export interface SandboxAccess {
  /** The URL of a sandbox that is open to other machines; null: it serves this machine only. */
  readonly publicUrl: () => string | null;
}

export function registerSandboxRoutes(
  scope: FastifyInstance,
  control: SandboxControl,
  { publicUrl }: SandboxAccess,
): void {
  scope.addHook('onRequest', async ({ headers }) => {
    // Reject pages of other sites that are open in the same browser, and hidden ones.
    if (headers.origin === 'null' || isCrossSite(headers, null)) fail('invalid_csrf');
    // A page whose name now resolves to this machine has our origin, but not our name.
    if (!isOwnHost(headers.host, publicUrl())) fail('invalid_csrf', {}, 'The Host is not this sandbox.');
  });
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, payload, done) => done(null, payload));
  scope.setErrorHandler((error, _request, reply) => {
    if (error instanceof Failure) {
      const { session } = FAILURES[error.code];
      const status = session === 200 ? 400 : session;
      return reply.code(status).send({ ok: false, error: error.code, msg: error.message, ...error.extras });
    }
    const tooLarge = (error as { statusCode?: number }).statusCode === 413;
    if (tooLarge)
      return reply.code(400).send({ ok: false, error: 'bad_request', msg: 'The body is too large.' });
    throw error;
  });
  for (const [name, { fields, act }] of Object.entries(SANDBOX_ROUTES)) {
    scope.post(`/sandbox/${name}`, { config: { untimed: true } }, async (request) => {
      requireJson(request);
      return { ok: true, ...(await act(control, parseBody(request.body, fields))) };
    });
  }
  scope.get('/sandbox/mails', { config: { untimed: true } }, async (request) => {
    const query = requireKnownFields(request.query as Body, ['to'], 'query');
    return {
      ok: true,
      ...(await control.readMails(query.to === undefined ? null : readAddress(query, 'to'))),
    };
  });
}

/** Missing in HTTP/1.0, which no browser sends. */
function isOwnHost(host: string | undefined, publicUrl: string | null): boolean {
  if (host === undefined) return true;
  const hostname = isHost(host) ? hostnameOf(`http://${host}`) : undefined;
  if (hostname === undefined) return false;
  return isLoopbackHost(hostname) || (publicUrl !== null && hostname === hostnameOf(publicUrl));
}

function hostnameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** A form of any page can send other types without asking; an empty body has none to check. */
function requireJson({ body, headers }: FastifyRequest): void {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (body === undefined || body === null || body === '' || type === 'application/json') return;
  fail('bad_request', {}, 'Send the body with Content-Type: application/json.');
}

function parseBody(payload: unknown, fields: readonly string[]): Body {
  return requireKnownFields(jsonObject(payload), fields, 'body');
}

/** Rejects unknown fields, so that a typo does not silently do nothing. */
function requireKnownFields(input: Body, fields: readonly string[], where: 'body' | 'query'): Body {
  const unknown = Object.keys(input).find((name) => !fields.includes(name));
  if (unknown !== undefined) {
    fail('bad_request', { field: unknown.slice(0, 64) }, `The ${where} contains an unknown field.`);
  }
  return input;
}

function jsonObject(payload: unknown): Body {
  if (payload === undefined || payload === null || payload === '') return {};
  try {
    const body: unknown = JSON.parse(String(payload));
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Body;
  } catch {
    // Falls through to the common error below.
  }
  return fail('bad_request', {}, 'The body must be a JSON object.');
}

function failInvalid(field: string, wants: string): never {
  return fail('bad_request', { field }, `${field} must be ${wants}.`);
}

function readText(body: Body, field: string): string {
  const value = body[field];
  const isValid = typeof value === 'string' && value.length > 0 && value.length <= 200 && isPrintable(value);
  return isValid ? value : failInvalid(field, 'a text of 1 to 200 printable characters');
}

function readAddress(query: Body, field: string): string {
  const value = query[field];
  const isValid = typeof value === 'string' && isPrintable(value) && value.length <= LIMITS.emailMaxChars;
  return isValid && value.includes('@') ? value : failInvalid(field, 'an email address');
}

function readNumber(body: Body, field: string, min: number, max: number): number {
  const value = body[field];
  const isValid = typeof value === 'number' && Number.isFinite(value) && value >= min && value <= max;
  return isValid ? value : failInvalid(field, `a number from ${min} to ${max}`);
}

function readInteger(body: Body, field: string, min: number, max: number): number {
  const value = readNumber(body, field, min, max);
  return Number.isInteger(value) ? value : failInvalid(field, `a whole number from ${min} to ${max}`);
}

function readBoolean(body: Body, field: string): boolean {
  const value = body[field] === undefined ? false : body[field];
  return typeof value === 'boolean' ? value : failInvalid(field, 'true or false');
}

/** Reads a decimal from text or a number, and writes numbers such as 1e-7 in full. */
function readDecimal(body: Body, field: string): string {
  const value = body[field];
  const decimalText = typeof value === 'number' ? toPlainDecimal(value) : value;
  return typeof decimalText === 'string' && /^\d{1,30}(\.\d{1,30})?$/.test(decimalText)
    ? decimalText
    : failInvalid(field, 'a decimal number, such as "0.05"');
}

function toPlainDecimal(value: number): string {
  const match = /^(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(String(value));
  if (!match) return String(value);
  const digits = `${match[1]}${match[2] ?? ''}`;
  const exponent = Number(match[3]);
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`;
  return digits.padEnd(exponent + 1, '0');
}

/** `/sandbox/*` (DESIGN "Operating contract"): JSON in, JSON out; absent on a live database. */
import type { FastifyInstance } from 'fastify';
import { Failure, fail } from '../../kernel/fail.ts';
import { isPrintable } from '../../kernel/printable.ts';
import { rfc3339 } from '../../kernel/time.ts';
import { FAILURES } from '../../spec/errors.ts';
import { LIMITS } from '../../spec/limits.ts';
import { isCrossSite } from '../csrf.ts';
import type { SandboxControl } from './control.ts';

/** Ten years: more is a slip of the finger. */
const ADVANCE_MAX_S = 10 * 366 * 86_400;

type Body = Readonly<Record<string, unknown>>;

interface Route {
  /** All that its body may hold. */
  readonly fields: readonly string[];
  readonly act: (control: SandboxControl, body: Body) => Promise<object>;
}

const ROUTES: Readonly<Record<string, Route>> = {
  payments: {
    fields: ['coin', 'address', 'amount'],
    act: (control, body) =>
      control.pay({
        coin: text(body, 'coin'),
        address: text(body, 'address'),
        amount: decimal(body, 'amount'),
      }),
  },
  blocks: {
    fields: ['coin', 'count'],
    act: (control, body) => control.mine({ coin: text(body, 'coin'), count: whole(body, 'count', 1, 1_000) }),
  },
  reorgs: {
    fields: ['coin', 'depth', 'drop'],
    act: (control, body) =>
      control.reorg({
        coin: text(body, 'coin'),
        depth: whole(body, 'depth', 1, 1_000),
        drop: flag(body, 'drop'),
      }),
  },
  rates: {
    fields: ['coin', 'usd'],
    act: async (control, body) => {
      await control.setRate({ coin: text(body, 'coin'), usd: decimal(body, 'usd') });
      return {};
    },
  },
  faults: {
    fields: ['driver', 'operation', 'times'],
    act: async (control, body) => {
      const times = whole(body, 'times', 0, 1_000_000);
      await control.setFault({ driver: text(body, 'driver'), operation: text(body, 'operation'), times });
      return {};
    },
  },
  clock: {
    fields: ['advance_s'],
    act: async (control, body) => {
      const now = await control.advanceClock(number(body, 'advance_s', 0, ADVANCE_MAX_S) * 1_000);
      return { now: rfc3339(now) };
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

export function sandboxRoutes(scope: FastifyInstance, control: SandboxControl): void {
  // A page of some other site, open in the same browser, has no business here.
  scope.addHook('onRequest', async (request) => {
    if (isCrossSite(request.headers, null)) fail('invalid_csrf');
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
  for (const [name, { fields, act }] of Object.entries(ROUTES)) {
    scope.post(`/sandbox/${name}`, async (request) => {
      return { ok: true, ...(await act(control, parse(request.body, fields))) };
    });
  }
  scope.get('/sandbox/mails', async (request) => {
    const query = known(request.query as Body, ['to'], 'query');
    return { ok: true, ...(await control.readMails(query.to === undefined ? null : address(query, 'to'))) };
  });
}

function parse(payload: unknown, fields: readonly string[]): Body {
  return known(jsonObject(payload), fields, 'body');
}

/** A typo must not silently do nothing. */
function known(given: Body, fields: readonly string[], where: 'body' | 'query'): Body {
  const unknown = Object.keys(given).find((name) => !fields.includes(name));
  if (unknown !== undefined) {
    fail('bad_request', { field: unknown.slice(0, 64) }, `The ${where} has a field that is not known here.`);
  }
  return given;
}

function jsonObject(payload: unknown): Body {
  if (payload === undefined || payload === null || payload === '') return {};
  try {
    const body: unknown = JSON.parse(String(payload));
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Body;
  } catch {
    // Falls through to the one answer for what is not a JSON object.
  }
  return fail('bad_request', {}, 'The body is not a JSON object.');
}

function bad(field: string, wants: string): never {
  return fail('bad_request', { field }, `${field} is ${wants}.`);
}

function text(body: Body, field: string): string {
  const value = body[field];
  const fits = typeof value === 'string' && value.length > 0 && value.length <= 200 && isPrintable(value);
  return fits ? value : bad(field, 'a text of 1 to 200 printable characters');
}

function address(query: Body, field: string): string {
  const value = query[field];
  const fits = typeof value === 'string' && isPrintable(value) && value.length <= LIMITS.emailMaxChars;
  return fits && value.includes('@') ? value : bad(field, 'an e-mail address');
}

function number(body: Body, field: string, min: number, max: number): number {
  const value = body[field];
  const fits = typeof value === 'number' && Number.isFinite(value) && value >= min && value <= max;
  return fits ? value : bad(field, `a number from ${min} to ${max}`);
}

function whole(body: Body, field: string, min: number, max: number): number {
  const value = number(body, field, min, max);
  return Number.isInteger(value) ? value : bad(field, `a whole number from ${min} to ${max}`);
}

function flag(body: Body, field: string): boolean {
  const value = body[field] === undefined ? false : body[field];
  return typeof value === 'boolean' ? value : bad(field, 'true or false');
}

/** A decimal as text or number; a number such as 1e-7 is written out. */
function decimal(body: Body, field: string): string {
  const value = body[field];
  const written = typeof value === 'number' ? plain(value) : value;
  return typeof written === 'string' && /^\d{1,30}(\.\d{1,30})?$/.test(written)
    ? written
    : bad(field, 'a decimal number, such as "0.05"');
}

function plain(value: number): string {
  const match = /^(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(String(value));
  if (!match) return String(value);
  const digits = `${match[1]}${match[2] ?? ''}`;
  const exponent = Number(match[3]);
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`;
  return digits.padEnd(exponent + 1, '0');
}

/** Requests made from the document: mostly right ones, each with something wrong. */
import fc from 'fast-check';
import { openApi } from '../../../src/http/v1/openapi.ts';
import { ROUTES } from '../../../src/http/v1/routes.ts';
import { changedBody, rightValue, type Schema, textOf } from './fuzz-bodies.ts';
import { ids, KEYS, MARK, TEXTS } from './fuzz-words.ts';
import { MULTIPART, multipart, type Part } from './upload-world.ts';

/** A request as it is wished for: ids in it are put in when it is sent. */
export interface Wish {
  readonly operation: string;
  readonly method: string;
  /** Below /v1, with its query. */
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | undefined;
  /** Each character of the body is one byte, UTF-8 or not. */
  readonly bytes: boolean;
  readonly token: TokenWord;
  /** Over a connection instead of straight into the application. */
  readonly network: boolean;
}

export type TokenWord = 'billing' | 'write' | 'read' | 'foreign' | 'none' | 'nonsense' | 'basic';

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
}
type Pair = readonly [name: string, value: string];

const document = openApi(ROUTES) as unknown as Document;

const OPERATIONS = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);
type Row = (typeof OPERATIONS)[number];

/** Which thing a parameter of a path names: what stands before it. */
const KINDS: Readonly<Record<string, string>> = {
  servers: 'server',
  images: 'image',
  plans: 'plan',
  regions: 'region',
  'ssh-keys': 'ssh_key',
  tokens: 'api_token',
  topup: 'topup',
  volumes: 'volume',
  snapshots: 'snapshot',
  groups: 'firewall_group',
  rules: 'firewall_rule',
  webhooks: 'webhook',
  deliveries: 'webhook_delivery',
  events: 'audit_event',
};

const JUNK_PARTS = [
  ...[
    '%',
    '%zz',
    '%00',
    '%ff',
    '%c0%80',
    '%2F',
    '%2e%2e',
    '..',
    '.',
    ';a=b',
    '*',
    ':id',
    '~',
    '@',
    'null',
    '0',
  ],
  ...[
    '',
    'srv_',
    `srv_${'a'.repeat(25)}`,
    `srv_${'a'.repeat(27)}`,
    `SRV_${'A'.repeat(26)}`,
    'srv_\u00e9',
  ].map(encodeURIComponent),
  ...['x'.repeat(99), 'x'.repeat(101), 'x'.repeat(4_000)],
  ...TEXTS.filter((text) => text.isWellFormed()).map(encodeURIComponent),
];

function pathOf({ path }: Row): fc.Arbitrary<string> {
  const parts = path.split('/').slice(1);
  const pieces = parts.map((part, index) => {
    if (!part.startsWith('{')) return fc.constant(part);
    return mostly(12, ids(KINDS[parts[index - 1] ?? ''] ?? part), fc.constantFrom(...JUNK_PARTS));
  });
  return fc
    .tuple(mostly(60, fc.constant(''), fc.constantFrom('/', '/x', '//', '.json')), ...pieces)
    .map(([tail, ...words]) => `/${words.join('/')}${tail}`);
}

function mostly<T>(weight: number, right: fc.Arbitrary<T>, wrong: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: right }, { weight: 1, arbitrary: wrong });
}

const QUERY_WORDS = [
  'true',
  'false',
  '1',
  '0',
  '-1',
  '101',
  '1e2',
  '1.5',
  '%205',
  '',
  'NaN',
  `${MARK}.${MARK}`,
];
const WORD = fc.constantFrom(
  ...QUERY_WORDS,
  ...TEXTS.filter((text) => text.isWellFormed()).map(encodeURIComponent),
);

function queryOf({ operation }: Row): fc.Arbitrary<string> {
  const known = (operation.parameters ?? [])
    .map((parameter) => document.components.parameters[parameter.$ref?.split('/').at(-1) ?? ''] ?? parameter)
    .filter((parameter) => parameter.in === 'query');
  const right = known.map((parameter): fc.Arbitrary<string> => {
    const { name, schema } = parameter;
    const value = schema.enum
      ? fc.constantFrom(...schema.enum.map(String))
      : fc.constantFrom(...wordsFor(name));
    return mostly(4, value, WORD).map((word) => `${name}=${word}`);
  });
  const unknown = fc
    .tuple(fc.constantFrom(...KEYS.filter((key) => key.isWellFormed()).map(encodeURIComponent)), WORD)
    .map(([key, word]) => `${key}=${word}`);
  const odd = fc.constantFrom(
    '&',
    '=',
    '==',
    '%=%',
    'a',
    'filter=1',
    'filter[]=1',
    'sort[]=name',
    '[=]',
    '%5b',
    '+',
  );
  const one =
    right.length > 0 ? mostly(8, fc.oneof(...right), fc.oneof(unknown, odd)) : fc.oneof(unknown, odd);
  const maxLength = right.length > 0 ? 3 : 1;
  return mostly(
    right.length > 0 ? 1 : 12,
    fc.constant(''),
    fc.array(one, { minLength: 1, maxLength }).map(asQuery),
  );
}

function asQuery(pairs: readonly string[]): string {
  return `?${pairs.join('&')}`;
}

function wordsFor(name: string): string[] {
  if (name === 'page_size') return ['1', '2', '25', '100', '0', '101'];
  if (name === 'cursor') return ['@@cursor:0@@', '@@cursor:1@@', '@@cursor:2@@', 'x.y'];
  if (/from|to/.test(name)) return ['2026-01-01T00:00:00Z', '2099-01-01T00:00:00%2B02:00', '2026-01-01'];
  if (/server|attached|resource/.test(name))
    return ['@@server:0@@', '@@foreign_server:0@@', '@@missing_server:0@@'];
  return ['par', 's1', 'web-1', 'debian', 'token.create', '@@image:0@@', 'nope', 'true'];
}

const JSON_TYPES = ['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON'];
const OTHER_TYPES = [
  ...[
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'multipart/form-data; boundary=',
    '',
  ],
  ...['application/jsonp', 'application/json;', 'application/json, text/plain', 'application/xml', '/', MARK],
];
const JUNK_TEXTS = [
  ...[
    '',
    ' ',
    '{',
    '}',
    '[]',
    'null',
    '"x"',
    '1',
    '{}{}',
    '{"a":1,}',
    "{'a':1}",
    '\ufeff{}',
    '{"a":01}',
    '{"a":NaN}',
  ],
  ...[
    '{"name":"a","name":"b"}',
    '// c\n{}',
    '{"\\ud800":1}',
    '{"a":"\\u0000"}',
    '\0',
    '{"a":"\ud800"}',
    'a=b&c=d',
  ],
  ...[
    '['.repeat(10_000),
    '{"a":'.repeat(5_000),
    `{"a":"${MARK.repeat(50_000)}"}`,
    `{"${'k'.repeat(70_000)}":1}`,
  ],
  ...[`{${Array.from({ length: 9_000 }, (_, n) => `"k${n}":1`).join(',')}}`, `[${'0,'.repeat(90_000)}0]`],
];

interface Content {
  readonly type: string | undefined;
  readonly body: string | undefined;
  readonly bytes: boolean;
}
const NOTHING: Content = { type: undefined, body: undefined, bytes: false };

function contentOf({ method, operation }: Row): fc.Arbitrary<Content> {
  const { content } = operation.requestBody ?? {};
  if (content?.['multipart/form-data']) return mostly(6, UPLOADS, JUNK);
  const schema = content?.['application/json']?.schema;
  if (!schema) return mostly(method === 'GET' ? 20 : 8, fc.constant(NOTHING), JUNK);
  return fc.oneof(
    { weight: 8, arbitrary: rightValue(schema).map((value) => typed(textOf(value))) },
    { weight: 10, arbitrary: changedBody(schema).map(typed) },
    { weight: 2, arbitrary: JUNK },
    { weight: 1, arbitrary: wronglyTyped(rightValue(schema)) },
  );
}

function typed(body: string): Content {
  return { type: 'application/json', body, bytes: false };
}

function wronglyTyped(value: fc.Arbitrary<unknown>): fc.Arbitrary<Content> {
  return fc.record({ type: WRONG_TYPE, body: value.map(textOf), bytes: fc.constant(false) });
}

const WRONG_TYPE = fc.option(fc.constantFrom(...OTHER_TYPES), { nil: undefined });
const JUNK: fc.Arbitrary<Content> = fc.record({
  type: mostly<string | undefined>(3, fc.constantFrom(...JSON_TYPES), WRONG_TYPE),
  body: fc.oneof(fc.constantFrom(...JUNK_TEXTS), fc.string({ unit: 'binary', maxLength: 200 })),
  bytes: fc.boolean(),
});

const PART_NAMES = [
  'file',
  'name',
  'version',
  'variant',
  'arch',
  'file',
  'nope',
  '',
  '__proto__',
  'x'.repeat(300),
];
const ISO_HEAD = `${'\0'.repeat(32_768)}\x01CD001\x01\0${'\0'.repeat(2_040)}`;
const CONTENTS = [
  ISO_HEAD,
  ISO_HEAD.slice(0, 32_770),
  'x',
  '',
  'amd64',
  'amd64,arm64',
  'x'.repeat(2_000),
  MARK,
  '\0',
];
const PARTS: fc.Arbitrary<Part> = fc
  .record({
    name: mostly<string | null>(20, fc.constantFrom(...PART_NAMES), fc.constant(null)),
    content: fc.constantFrom(...CONTENTS),
    filename: fc.option(fc.constantFrom('a.iso', '', '../../x', `${MARK}.iso`, 'é"'), { nil: undefined }),
  })
  .map(({ filename, ...part }) => (filename === undefined ? part : { ...part, filename }));
const RIGHT_FILE: Part = { name: 'file', filename: 'a.iso', content: ISO_HEAD };
const ENDS = [undefined, '', '--', '--nope--\r\n', '\r\n--'];

const UPLOADS: fc.Arbitrary<Content> = fc
  .record({
    parts: fc.array(PARTS, { maxLength: 4 }),
    file: fc.boolean(),
    end: mostly(6, fc.constant(undefined), fc.constantFrom(...ENDS)),
    cut: mostly(6, fc.constant(0), fc.nat({ max: 400 })),
    type: mostly(12, fc.constant(MULTIPART['content-type']), fc.constantFrom(...OTHER_TYPES)),
  })
  .map(({ parts, file, end, cut, type }) => {
    const text = multipart(file ? [...parts, RIGHT_FILE] : parts, end).toString('latin1');
    return { type, body: cut > 0 ? text.slice(0, -cut) : text, bytes: true };
  });

const KEY = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'k7', 'k8') },
  { weight: 5, arbitrary: fc.uuid({ version: 4 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', ' ', 'a b', 'x'.repeat(255), 'x'.repeat(256), '\u00e9', `k1, ${MARK}`),
  },
);
const ODD_HEADERS: readonly Pair[] = [
  ...['text/html', '*/*', 'application/xml', 'nonsense', ''].map((value): Pair => ['accept', value]),
  ...['gzip', 'br;q=1.0, *;q=0', 'identity'].map((value): Pair => ['accept-encoding', value]),
  ...['xx', '*', MARK].map((value): Pair => ['accept-language', value]),
  ...['100-continue', 'nonsense'].map((value): Pair => ['expect', value]),
  ...['127.0.0.1', '::1, 10.0.0.1', `${MARK}`, 'x'.repeat(5_000)].map(
    (value): Pair => ['x-forwarded-for', value],
  ),
  ...['req_x', MARK].map((value): Pair => ['x-request-id', value]),
  ...['DELETE', 'GET'].map((value): Pair => ['x-http-method-override', value]),
  ...['true', 'yes', ''].map((value): Pair => ['x-service-beta', value]),
  ...['https://evil.example', 'null'].map((value): Pair => ['origin', value]),
  ...[`PHPSESSID=${MARK}`, '=', 'a=b; a=c; __proto__=1'].map((value): Pair => ['cookie', value]),
  ['if-none-match', '*'],
  ['if-modified-since', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ['range', 'bytes=0-1'],
  ['upgrade', 'websocket'],
  ['content-encoding', 'gzip'],
  ['x-forwarded-host', 'evil.example'],
  ['x-long', 'y'.repeat(9_000)],
  ['x-too-long', 'y'.repeat(20_000)],
  ['x-latin', '\u00e9\u00ff'],
];

function headersOf({ method }: Row): fc.Arbitrary<Pair[]> {
  const key = KEY.map((value): Pair[] => [['idempotency-key', value]]);
  const twice = key.map((pairs) => [...pairs, ...pairs]);
  const none = fc.constant<Pair[]>([]);
  const keys = method === 'POST' ? fc.oneof(none, key, mostly(9, none, twice)) : mostly(20, none, key);
  const odd = mostly(4, none, fc.array(fc.constantFrom(...ODD_HEADERS), { minLength: 1, maxLength: 2 }));
  return fc.tuple(keys, odd).map(([one, two]) => [...one, ...two]);
}

const OTHER_METHODS = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'SEARCH',
];
const TOKEN_WORDS = fc.oneof(
  { weight: 80, arbitrary: fc.constant<TokenWord>('billing') },
  { weight: 12, arbitrary: fc.constantFrom<TokenWord>('write', 'read', 'foreign') },
  { weight: 4, arbitrary: fc.constantFrom<TokenWord>('none', 'nonsense', 'basic') },
);

/** Names of headers that the framework's own injection would lose or join. */
function needsNetwork(path: string, headers: readonly Pair[]): boolean {
  const names = headers.map(([name]) => name);
  return /(^|\/)(\.|%2e)/i.test(path) || names.includes('expect') || new Set(names).size < names.length;
}

function wishOf(row: Row): fc.Arbitrary<Wish> {
  return fc
    .record({
      method: mostly(24, fc.constant(row.method), fc.constantFrom(...OTHER_METHODS)),
      path: pathOf(row),
      query: queryOf(row),
      headers: headersOf(row),
      content: contentOf(row),
      token: TOKEN_WORDS,
      network: mostly(7, fc.constant(false), fc.constant(true)),
    })
    .map(({ path, query, headers, content, network, ...rest }) => ({
      ...rest,
      operation: row.operation.operationId,
      path: `${path}${query}`,
      headers: content.type === undefined ? headers : [...headers, ['content-type', content.type] as const],
      body: content.body,
      bytes: content.bytes,
      network: network || needsNetwork(path, headers),
    }));
}

/** What there is must last for a while: it is deleted less often than used. */
const WEIGHTS: Readonly<Record<string, number>> = { GET: 3, DELETE: 1 };

/** Any request of the document. */
export const WISHES: fc.Arbitrary<Wish> = fc.oneof(
  ...OPERATIONS.map((row) => ({ weight: WEIGHTS[row.method] ?? 4, arbitrary: wishOf(row) })),
);

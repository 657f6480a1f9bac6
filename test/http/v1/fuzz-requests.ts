/** Requests generated from the document: mostly valid ones, each with a fault. */
import fc from 'fast-check';
import { openApi } from '../../../src/http/v1/openapi/document.ts';
import { ROUTES } from '../../../src/http/v1/routes.ts';
import type { Schema } from './fuzz-bodies.ts';
import { type Bodies, contentOf } from './fuzz-content.ts';
import { headersOf, type Pair } from './fuzz-headers.ts';
import { idPlaceholders, MARK, mostlyValid, ODD_KEYS, ODD_TEXTS } from './fuzz-values.ts';

/** A generated request. Placeholders for ids are replaced when it is sent. */
export interface FuzzRequest {
  readonly operation: string;
  readonly method: string;
  /** Below /v1, with its query. */
  readonly path: string;
  readonly headers: readonly Pair[];
  readonly body: string | undefined;
  /** Each character of the body is one byte, UTF-8 or not. */
  readonly bytes: boolean;
  readonly token: TokenKind;
  /** Sent over a connection instead of injected into the application. */
  readonly network: boolean;
}

export type TokenKind = 'billing' | 'write' | 'read' | 'foreign' | 'none' | 'nonsense' | 'basic';

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
}
interface Operation {
  readonly operationId: string;
  readonly 'x-beta'?: true;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Bodies };
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
}

const document = openApi(ROUTES) as unknown as Document;

const OPERATIONS = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);
type Row = (typeof OPERATIONS)[number];

/** The resource of a path parameter: the part of the path before it. */
const ID_KINDS: Readonly<Record<string, string>> = {
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
  alerts: 'alert',
  tickets: 'ticket',
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
  ...ODD_TEXTS.filter((text) => text.isWellFormed()).map(encodeURIComponent),
];

function pathOf({ path }: Row): fc.Arbitrary<string> {
  const parts = path.split('/').slice(1);
  const pieces = parts.map((part, index) => {
    if (!part.startsWith('{')) return fc.constant(part);
    return mostlyValid(
      12,
      idPlaceholders(ID_KINDS[parts[index - 1] ?? ''] ?? part),
      fc.constantFrom(...JUNK_PARTS),
    );
  });
  return fc
    .tuple(mostlyValid(60, fc.constant(''), fc.constantFrom('/', '/x', '//', '.json')), ...pieces)
    .map(([tail, ...words]) => `/${words.join('/')}${tail}`);
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
  ...ODD_TEXTS.filter((text) => text.isWellFormed()).map(encodeURIComponent),
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
    return mostlyValid(4, value, WORD).map((word) => `${name}=${word}`);
  });
  const unknown = fc
    .tuple(fc.constantFrom(...ODD_KEYS.filter((key) => key.isWellFormed()).map(encodeURIComponent)), WORD)
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
    right.length > 0 ? mostlyValid(8, fc.oneof(...right), fc.oneof(unknown, odd)) : fc.oneof(unknown, odd);
  const maxLength = right.length > 0 ? 3 : 1;
  return mostlyValid(
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
  if (name === 'after') return ['0', '1', '3', '-1', '999999999', '1e3'];
  if (name === 'cursor') return ['@@cursor:0@@', '@@cursor:1@@', '@@cursor:2@@', 'x.y'];
  if (name === 'label') return ['env:prod', 'env:', 'env', 'a:b:c&label=env:prod'];
  if (/from|to/.test(name)) return ['2026-01-01T00:00:00Z', '2099-01-01T00:00:00%2B02:00', '2026-01-01'];
  if (/server|attached|resource/.test(name))
    return ['@@server:0@@', '@@foreign_server:0@@', '@@missing_server:0@@'];
  return ['par', 's1', 'web-1', 'debian', 'token.create', '@@image:0@@', 'nope', 'true'];
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
const TOKEN_KINDS = fc.oneof(
  { weight: 80, arbitrary: fc.constant<TokenKind>('billing') },
  { weight: 12, arbitrary: fc.constantFrom<TokenKind>('write', 'read', 'foreign') },
  { weight: 4, arbitrary: fc.constantFrom<TokenKind>('none', 'nonsense', 'basic') },
);

/** Header names that the framework’s injection would lose or merge. */
function needsNetwork(path: string, headers: readonly Pair[]): boolean {
  const names = headers.map(([name]) => name);
  return /(^|\/)(\.|%2e)/i.test(path) || names.includes('expect') || new Set(names).size < names.length;
}

function fuzzRequest(row: Row): fc.Arbitrary<FuzzRequest> {
  return fc
    .record({
      method: mostlyValid(24, fc.constant(row.method), fc.constantFrom(...OTHER_METHODS)),
      path: pathOf(row),
      query: queryOf(row),
      headers: headersOf(row.method, row.operation['x-beta'] === true),
      content: contentOf(row.method, row.operation.requestBody?.content),
      token: TOKEN_KINDS,
      network: mostlyValid(7, fc.constant(false), fc.constant(true)),
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

/** Resources must last for a while, so deletions are less frequent than uses. */
const METHOD_WEIGHTS: Readonly<Record<string, number>> = { GET: 3, DELETE: 1 };

/** Generates any request of the document. */
export const FUZZ_REQUESTS: fc.Arbitrary<FuzzRequest> = fc.oneof(
  ...OPERATIONS.map((row) => ({ weight: METHOD_WEIGHTS[row.method] ?? 4, arbitrary: fuzzRequest(row) })),
);

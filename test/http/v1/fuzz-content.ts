/** Request bodies with a media type: JSON, malformed JSON, uploads, and malformed uploads. */
import fc from 'fast-check';
import { mutatedBody, type Schema, textOf, validValue } from './fuzz-bodies.ts';
import { MARK, mostlyValid } from './fuzz-values.ts';
import { MULTIPART, multipart, type Part } from './upload-world.ts';

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

/** By media type, for the media types that an operation accepts. */
export type Bodies = Readonly<Record<string, { readonly schema: Schema }>>;

export interface Content {
  readonly type: string | undefined;
  readonly body: string | undefined;
  readonly bytes: boolean;
}
const NOTHING: Content = { type: undefined, body: undefined, bytes: false };

/** Generates the body of a request to the operation. */
export function contentOf(method: string, bodies: Bodies | undefined): fc.Arbitrary<Content> {
  if (bodies?.['multipart/form-data']) return mostlyValid(6, UPLOADS, JUNK);
  const schema = bodies?.['application/json']?.schema;
  if (!schema) return mostlyValid(method === 'GET' ? 20 : 8, fc.constant(NOTHING), JUNK);
  return fc.oneof(
    { weight: 8, arbitrary: validValue(schema).map((value) => typed(textOf(value))) },
    { weight: 10, arbitrary: mutatedBody(schema).map(typed) },
    { weight: 2, arbitrary: JUNK },
    { weight: 1, arbitrary: wronglyTyped(validValue(schema)) },
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
  type: mostlyValid<string | undefined>(3, fc.constantFrom(...JSON_TYPES), WRONG_TYPE),
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
    name: mostlyValid<string | null>(20, fc.constantFrom(...PART_NAMES), fc.constant(null)),
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
    end: mostlyValid(6, fc.constant(undefined), fc.constantFrom(...ENDS)),
    cut: mostlyValid(6, fc.constant(0), fc.nat({ max: 400 })),
    type: mostlyValid(12, fc.constant(MULTIPART['content-type']), fc.constantFrom(...OTHER_TYPES)),
  })
  .map(({ parts, file, end, cut, type }) => {
    const text = multipart(file ? [...parts, RIGHT_FILE] : parts, end).toString('latin1');
    return { type, body: cut > 0 ? text.slice(0, -cut) : text, bytes: true };
  });

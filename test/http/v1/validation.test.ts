import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Type } from 'typebox';
import { describeItems } from '../../../src/http/v1/error-response.ts';
import { createChecker } from '../../../src/http/v1/validation.ts';
import { describePattern, PATTERNS } from '../../../src/spec/patterns.ts';
import { nullable, oneOf } from '../../../src/spec/schemas/parts.ts';
import { RdnsBody } from '../../../src/spec/schemas/server.ts';

const check = createChecker(
  Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 3, pattern: '^[a-z]+$' }),
      size: Type.Integer({ minimum: 10, maximum: 20 }),
      coin: oneOf(['BTC', 'XMR']),
      keys: Type.Array(Type.String(), { minItems: 1, maxItems: 2 }),
      note: Type.Optional(nullable(Type.String({ maxLength: 2 }))),
      labels: Type.Optional(
        Type.Record(Type.String({ pattern: '^[a-z]{1,3}$' }), Type.String(), {
          maxProperties: 1,
          additionalProperties: false,
        }),
      ),
      inner: Type.Optional(Type.Object({ port: Type.Integer() }, { additionalProperties: false })),
    },
    { additionalProperties: false },
  ),
);
const RIGHT = { name: 'abc', size: 10, coin: 'BTC', keys: ['k'] };

describe('validation errors', () => {
  it('a valid value has no errors, including null where it is allowed', () => {
    assert.deepEqual(check({ ...RIGHT, note: null, labels: { a: 'b' } }), []);
  });

  it('an error names the field, the issue, and the bound or the expected value', () => {
    const cases: readonly [object, object][] = [
      [{ name: '' }, { field: 'name', issue: 'min_length', min: 1 }],
      [{ name: 'abcd' }, { field: 'name', issue: 'max_length', max: 3 }],
      [{ name: 'ABC' }, { field: 'name', issue: 'invalid_format', pattern: '^[a-z]+$' }],
      [{ name: 7 }, { field: 'name', issue: 'invalid_type', expected: 'string' }],
      [{ name: null }, { field: 'name', issue: 'invalid_type', expected: 'string' }],
      [{ size: 9 }, { field: 'size', issue: 'min', min: 10 }],
      [{ size: 21 }, { field: 'size', issue: 'max', max: 20 }],
      [{ size: 10.5 }, { field: 'size', issue: 'invalid_type', expected: 'integer' }],
      [{ size: '10' }, { field: 'size', issue: 'invalid_type', expected: 'integer' }],
      [{ coin: 'DOGE' }, { field: 'coin', issue: 'invalid_value', allowed: ['BTC', 'XMR'] }],
      [{ keys: [] }, { field: 'keys', issue: 'min_items', min: 1 }],
      [{ keys: ['a', 'b', 'c'] }, { field: 'keys', issue: 'max_items', max: 2 }],
      [{ keys: ['a', 1] }, { field: 'keys.1', issue: 'invalid_type', expected: 'string' }],
      [{ note: 'abc' }, { field: 'note', issue: 'max_length', max: 2 }],
      [{ note: 1 }, { field: 'note', issue: 'invalid_type', expected: 'string or null' }],
      [{ labels: { A: 'b' } }, { field: 'labels.A', issue: 'invalid_format' }],
      [{ labels: { a: 'b', b: 'c' } }, { field: 'labels', issue: 'max_items', max: 1 }],
      [{ inner: {} }, { field: 'inner.port', issue: 'required' }],
      [{ inner: { port: 1, x: 2 } }, { field: 'inner.x', issue: 'unknown_key' }],
      [{ nope: 1 }, { field: 'nope', issue: 'unknown_key' }],
    ];
    for (const [change, item] of cases) assert.deepEqual(check({ ...RIGHT, ...change }), [item]);
  });

  it('every missing field is named, and each field once', () => {
    const items = check({ name: 'ABCD', size: 10 });
    assert.deepEqual(items.map((item) => `${item.field} ${item.issue}`).sort(), [
      'coin required',
      'keys required',
      'name max_length',
    ]);
    assert.deepEqual(
      check(JSON.parse('{"__proto__":1}')).filter((item) => item.field === '__proto__'),
      [{ field: '__proto__', issue: 'unknown_key' }],
    );
  });

  it('an invalid value always has errors, and known fields are named despite many unknown keys', () => {
    for (const count of [1, 7, 8, 9, 30, 100, 1_000, 20_000]) {
      const junk = Object.fromEntries(Array.from({ length: count }, (_, n) => [`junk${n}`, n]));
      for (const body of [
        { ...junk, ...RIGHT, name: 7 },
        { ...RIGHT, name: 7, ...junk },
        { ...RIGHT, labels: junk },
        { ...RIGHT, inner: { port: 1, ...junk } },
      ]) {
        const items = check(body);
        assert.ok(items.length > 0 && items.length <= 100, `${count}`);
        if (count <= 30 && body.name === 7) assert.ok(items.some((item) => item.field === 'name'));
        if (count <= 30 && !('labels' in body) && !('inner' in body)) assert.equal(items.length, count + 1);
      }
    }
  });

  it('a message says the rule of each pattern in words and never prints the expression', () => {
    const document = readFileSync('openapi/v1.json', 'utf8');
    const used = [...document.matchAll(/"pattern": ("(?:[^"\\]|\\.)*")/g)].map(([, text = '']) =>
      String(JSON.parse(text)),
    );
    assert.deepEqual(
      [...new Set(used)].sort(),
      ['serverName', 'hostName', 'ports', 'labelFilter', 'printable']
        .map((name) => PATTERNS[name as keyof typeof PATTERNS].pattern as string)
        .sort(),
    );
    for (const pattern of used) {
      const message = describeItems([{ field: 'x', issue: 'invalid_format', pattern }]);
      assert.equal(message, `x must be ${describePattern(pattern)}.`);
    }
    const body = { ipv4: 'under_score.example.org' };
    assert.equal(
      describeItems(createChecker(RdnsBody)(body)),
      'ipv4 must be a host name, such as web.example.org: parts of up to 63 letters, digits, and inner ' +
        'hyphens, separated by dots, of which the last is not a number.',
    );
  });

  it('the message describes a limited number of errors', () => {
    const items = check({ name: 'ABC', size: 1, coin: 'X', keys: [], nope: 1 });
    const text = describeItems(items);
    assert.match(text, /name has an invalid format\./);
    assert.match(text, /There is 1 more error\.$/);
    assert.equal(
      describeItems([{ field: 'keys', issue: 'min_items', min: 1 }]),
      'keys must have at least 1 item.',
    );
  });
});

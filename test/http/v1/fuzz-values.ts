/** Values that a hostile or careless caller may send in place of any other. */
import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';

/** Part of hostile values. No error may repeat it. */
export const MARK = 'qX7zWm';

/** A piece of JSON that no serialized value becomes. Inserted when a body is serialized. */
export function asJsonLiteral(json: string): string {
  return `@@json:${json}@@`;
}

export const ODD_NUMBERS: readonly unknown[] = [
  ...[0, -1, 1, 0.1, 30.001, 1e21, 2 ** 31, 2 ** 53, -(2 ** 63), 9_999_999_999_999],
  ...['-0', '1e400', '-1e400', '1e-400', '1E2', '12345678901234567890123', '30.00', '1.0'].map(asJsonLiteral),
];

const FRAGMENTS = [
  ...['\0', '\ud800', '\udc00', '\r\n', '\n', '\t', '\u2028', '\u202e', '\u200b', '\ufeff', '\u0085', '\x7f'],
  ...['\u{1f9ca}', '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}', 'שלום', 'مرحبا', 'e\u0301', 'ﬁ', 'İ', 'ß'],
  ...["'; drop table servers; --", '" or 1=1', '<script>alert(1)</script>', '{{7*7}}', `\${7*7}`, '%s%n'],
  ...['../../etc/passwd', '%00', '\\', '$1', '::', '/', '*', ' ', ''],
];

export const ODD_TEXTS: readonly string[] = [
  ...FRAGMENTS,
  ...FRAGMENTS.map((text) => `${MARK}${text}`),
  ...['x'.repeat(64), 'x'.repeat(256), `${MARK}${'é'.repeat(5_000)}`, '\u{1f9ca}'.repeat(64)],
  ...['null', 'true', '0', '[]', '{}', '1e400', '2026-13-45T99:99:99Z', '0000-01-01T00:00:00Z', '2026-02-30'],
  ...['9999-12-31T23:59:59.999999999Z', '2026-01-01T00:00:00+99:99', '10000-01-01T00:00:00Z', '-1'],
  ...['999.999.999.999/0', '::ffff:1.2.3.4/96', '::/129', 'fe80::1%eth0/64', '1.2.3.4', '0.0.0.0/-1'],
  ...['https://localhost/', 'https://127.1/', 'https://[::1]/', 'https://0x7f000001/', 'http://example.org/'],
  ...['https://u:p@example.org/', 'https://', 'javascript:alert(1)', 'https://example.org:99999/', '//x'],
  ...['ssh-ed25519 AAAA', 'ssh-rsa ====', `ssh-ed25519 ${'A'.repeat(68)} ${MARK}`, 'ssh-dss AAAA'],
];

export const ODD_KEYS: readonly string[] = [
  ...['__proto__', 'constructor', 'toString', 'id', 'object', 'status', 'created_at', 'customer_id', 'a.b'],
  ...['', ' ', '0', 'é', '\u{1f9ca}', '\0', '\ud800', 'x'.repeat(300), 'name ', 'Name', 'filter[name]'],
];

/** Generates any value. */
export const ANYTHING: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom<unknown>(...ODD_TEXTS) },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(...ODD_NUMBERS) },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(null, true, false, [], {}, [null], [[]], { a: 1 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 80 }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(nested(15), nested(17), nested(2_000)) },
);

function nested(levels: number): string {
  return asJsonLiteral(`${'['.repeat(levels)}${']'.repeat(levels)}`);
}

/** Valid values of fields with rules beyond their schema. `@@server:0@@` is a placeholder for an id. */
export const VALID_VALUES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  name: fc.constantFrom('a', 'web-1', 'a'.repeat(63)),
  plan: weighted(['s1', 's2', 's3'], ['r1', 'r2', 'r3', 'nope']),
  region: weighted(['par', 'rkv', 'zrh', 'buh'], ['rek', 'nope']),
  image: weighted(
    ['@@image:0@@', '@@image:1@@', '@@image:2@@', '@@image:3@@'],
    ['@@image:4@@', '@@custom:0@@'],
  ),
  ssh_keys: idPlaceholders('ssh_key'),
  applied_to: idPlaceholders('server'),
  server: idPlaceholders('server'),
  snapshot: idPlaceholders('snapshot'),
  tags: fc.constantFrom('web', 'prod', 'é', '\u{1f9ca}'),
  labels: fc.constantFrom('', 'prod', 'x'.repeat(255)),
  label_selector: fc.constantFrom('env=ci', 'env=ci,team=web'),
  user_data_b64: fc.constantFrom('', 'I2Nsb3VkLWNvbmZpZwo=', 'A'.repeat(87_380), '!', 'A'.repeat(90_000)),
  ipv4: fc.constantFrom('web.example.org', 'a', 'x'.repeat(63)),
  ipv6: fc.constantFrom('web.example.org', 'a', 'x'.repeat(63)),
  address: fc.constantFrom('2001:db8::1', '::', '2001:db8:0:1::25', '2001:0DB8:0:1:0:0:0:1'),
  public_key: fc.constantFrom(...Array.from({ length: 40 }, (_, n) => publicKey(n))),
  expires_at: fc.constantFrom('2099-01-01T00:00:00Z', '2036-02-29T12:00:00+02:00', '2001-01-01T00:00:00Z'),
  amount_usd: fc.integer({ min: 3_000, max: 1_000_000 }).map((cents) => cents / 100),
  max_price_usd: fc.constantFrom(0, 4.99, 1_000),
  quote: idPlaceholders('quote'),
  resource: idPlaceholders('server'),
  params: fc.constantFrom(
    ...[{}, { max_price_usd: 5 }, { quote: '@@quote:0@@' }, { plan: 's1' }, { plan: 'nope' }],
    ...[{ plan: 's1', region: 'par', billing_months: 3, quote: '@@quote:1@@' }],
    { plan: 'r1', region: 'rkv', image: '@@image:0@@', ssh_keys: ['@@ssh_key:0@@'], tags: ['a'] },
  ),
  filesystem: fc.constantFrom('ext4', 'xfs'),
  size_gb: fc.constantFrom(10, 11, 100, 4_096),
  port: fc.constantFrom('443', '80,443', '8000-8999', '65535', '65536', '9-1'),
  source: fc.constantFrom('0.0.0.0/0', '::/0', '203.0.113.0/24', '2001:db8::/32', '203.0.113.1/24'),
  note: fc.constantFrom('', 'why', 'שלום'),
  url: fc.constantFrom(
    'https://example.org/hook',
    'https://example.org:8443/a?b=c',
    'https://bücher.example/',
  ),
};

/** Generates mostly values of the first list. */
function weighted<T>(most: readonly T[], few: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...most) },
    { weight: 1, arbitrary: fc.constantFrom(...few) },
  );
}

/** Generates mostly ids that the customer owns. */
export function idPlaceholders(kind: string): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.nat({ max: 5 }).map((n) => `@@${kind}:${n}@@`) },
    { weight: 1, arbitrary: fc.nat({ max: 2 }).map((n) => `@@foreign_${kind}:${n}@@`) },
    { weight: 1, arbitrary: fc.constant(`@@missing_${kind}:0@@`) },
    { weight: 1, arbitrary: fc.constantFrom('@@server:0@@', '@@volume:0@@', '@@topup:0@@', `${MARK}_1`) },
  );
}

export function publicKey(n: number): string {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  const parts = [Buffer.from('ssh-ed25519'), Buffer.from(x, 'base64url')];
  const blob = Buffer.concat(parts.flatMap((part) => [Buffer.from([0, 0, 0, part.length]), part]));
  return `ssh-ed25519 ${blob.toString('base64')} key ${n}`;
}

/** Generates this many valid values for each invalid one. */
export function mostlyValid<T>(
  weight: number,
  right: fc.Arbitrary<T>,
  wrong: fc.Arbitrary<T>,
): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: right }, { weight: 1, arbitrary: wrong });
}

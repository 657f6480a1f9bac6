/** Headers of generated requests. */
import fc from 'fast-check';
import { MARK, mostlyValid } from './fuzz-values.ts';

export type Pair = readonly [name: string, value: string];

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

const PLACES = ['0', '1', '7', '-1', '1.5', 'x', '', '9'.repeat(30), '1, 2', MARK];

/** Headers of a beta endpoint, and of the position in a stream. */
const BETA: fc.Arbitrary<Pair[]> = mostlyValid(
  2,
  fc.constant<Pair[]>([['x-service-beta', 'true']]),
  fc.constantFrom(...PLACES).map((place): Pair[] => [
    ['x-service-beta', 'true'],
    ['last-event-id', place],
  ]),
);

/** Repeated keys, and headers that a client, a proxy, or an attacker may add. */
export function headersOf(method: string, beta: boolean): fc.Arbitrary<Pair[]> {
  const key = KEY.map((value): Pair[] => [['idempotency-key', value]]);
  const twice = key.map((pairs) => [...pairs, ...pairs]);
  const none = fc.constant<Pair[]>([]);
  const keys =
    method === 'POST' ? fc.oneof(none, key, mostlyValid(9, none, twice)) : mostlyValid(20, none, key);
  const odd = mostlyValid(4, none, fc.array(fc.constantFrom(...ODD_HEADERS), { minLength: 1, maxLength: 2 }));
  const wanted = beta ? mostlyValid(19, BETA, none) : none;
  return fc.tuple(keys, odd, wanted).map((pairs) => pairs.flat());
}

/** Raw connection input that is not valid HTTP, or only nearly valid. */
import { connect } from 'node:net';
import fc from 'fast-check';

const LINES = [
  ...[
    'GET /v1/servers HTTP/1.1',
    'POST /v1/servers HTTP/1.1',
    'GET /v1/servers HTTP/1.0',
    'GET /v1/servers HTTP/2.0',
  ],
  ...[
    'GET /v1/servers',
    'get /v1/servers HTTP/1.1',
    'NOPE /v1/servers HTTP/1.1',
    'CONNECT example.org:443 HTTP/1.1',
  ],
  ...[
    'GET //v1/servers HTTP/1.1',
    'GET http://example.org/v1/servers HTTP/1.1',
    'OPTIONS * HTTP/1.1',
    'GET * HTTP/1.1',
  ],
  ...[
    'GET /v1/\u00e9 HTTP/1.1',
    'GET /v1/\0 HTTP/1.1',
    'GET  /v1 HTTP/1.1',
    'PRI * HTTP/2.0',
    '\x16\x03\x01\x02\0\x01',
  ],
  ...[
    `GET /v1/${'x'.repeat(20_000)} HTTP/1.1`,
    'GET /v1/servers?%zz HTTP/1.1',
    'GET /v1/%ff HTTP/1.1',
    '',
    '{}',
  ],
];
const HEADERS = [
  ...['Host: localhost', 'Host: localhost', 'Host:', 'Host: a b', 'Content-Length: 2', 'Content-Length: 0'],
  ...[
    'Content-Length: -1',
    'Content-Length: 1e3',
    'Content-Length: 99999999999999999999',
    'Content-Length: 2, 2',
  ],
  ...[
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: gzip',
    'Transfer-Encoding: chunked, chunked',
    'Expect: x',
  ],
  ...[
    'Expect: 100-continue',
    'Connection: close',
    'Connection: upgrade',
    'Upgrade: websocket',
    'Upgrade: h2c',
  ],
  ...[
    'Content-Type: application/json',
    'X : y',
    ' folded',
    ': empty',
    'no colon',
    'X: \0',
    'X: \x7f',
    'X: \u00e9',
  ],
  ...[
    'Authorization: Bearer x',
    'Authorization:',
    `X: ${'y'.repeat(30_000)}`,
    'Trailer: X',
    'Connection: keep-alive',
  ],
];
const BODIES = [
  '',
  '{}',
  '2\r\n{}\r\n0\r\n\r\n',
  'zz\r\n{}\r\n',
  '2\r\n{}\r\n0\r\nX: y\r\n\r\n',
  '\0\0',
  'GET / HTTP/1.1\r\n\r\n',
];

const NEARLY_HTTP = fc
  .tuple(
    fc.constantFrom(...LINES),
    fc.array(fc.constantFrom(...HEADERS), { maxLength: 6 }),
    fc.constantFrom(...BODIES),
  )
  .map(([line, headers, body]) => `${[line, ...headers].join('\r\n')}\r\n\r\n${body}`);

/** Bytes as text, one character per byte. Some contain two pipelined requests. */
export const RAW_REQUESTS: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: NEARLY_HTTP },
  { weight: 2, arbitrary: fc.tuple(NEARLY_HTTP, NEARLY_HTTP).map((two) => two.join('')) },
  {
    weight: 1,
    arbitrary: fc.tuple(NEARLY_HTTP, fc.nat({ max: 60 })).map(([text, cut]) => text.slice(0, -cut)),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary-ascii', maxLength: 300 }) },
);

/** Sends the text and returns all responses until the service closes the connection. */
export async function sendRaw(port: number, text: string): Promise<string> {
  const chunks: Buffer[] = [];
  const socket = connect(port, '127.0.0.1');
  return await new Promise((resolve) => {
    socket
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      // A service that closes while we still send may reset the connection.
      .on('error', () => undefined)
      .on('close', () => resolve(Buffer.concat(chunks).toString('utf8')))
      .end(Buffer.from(text, 'latin1'));
  });
}

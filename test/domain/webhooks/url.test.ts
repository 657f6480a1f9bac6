import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireWebhookUrl } from '../../../src/domain/webhooks/url.ts';
import { InvalidRequest } from '../../../src/kernel/fail.ts';

/** The issue by which a URL is refused, null when it is taken. */
function issueOf(url: string, allowLoopback = false): string | null {
  try {
    requireWebhookUrl(url, { allowLoopback });
    return null;
  } catch (error) {
    assert.ok(error instanceof InvalidRequest);
    assert.deepEqual(
      error.items.map(({ field }) => field),
      ['url'],
    );
    // A refusal never repeats what the caller typed.
    assert.ok(url.length < 10 || !error.message.includes(url));
    return error.items[0]?.issue ?? '';
  }
}

const LOOPBACK = [
  ...[
    'https://localhost/',
    'https://LOCALHOST:8443/x',
    'https://localhost./',
    'https://a.localhost/',
    'https://a.b.localhost.',
  ],
  ...[
    'https://localhost.localdomain',
    'https://ip6-localhost/',
    'https://ip6-loopback/',
    'https://loc%61lhost/',
  ],
  ...[
    'https://127.0.0.1',
    'https://127.0.0.1.',
    'https://127.0.0.1:8443/x?y=z',
    'https://127.1',
    'https://127.0.1',
  ],
  ...[
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0x7f.0.0.1',
    'https://0177.0.0.1',
    'https://017700000001',
  ],
  ...[
    'https://127.0.0.01',
    'https://0x7f.1',
    'https://127%2e0%2e0%2e1/',
    'https://１２７.0.0.1/',
    'https://127。0。0。1/',
  ],
  ...[
    'https://①②⑦.⓪.⓪.①/',
    'https://127.255.255.254',
    'https://[::1]/',
    'https://[0:0:0:0:0:0:0:1]:8443',
    'https://[0::0001]',
  ],
];

const PRIVATE = [
  ...['https://10.0.0.1', 'https://10.1', 'https://167772161', 'https://0xa.0.0.1', 'https://012.0.0.1'],
  ...[
    'https://172.16.0.1',
    'https://192.168.1.1',
    'https://3232235777',
    'https://0xc0a80101',
    'https://100.64.0.1',
  ],
  ...[
    'https://169.254.169.254/latest/meta-data/',
    'https://2852039166/',
    'https://0xa9fea9fe',
    'https://0251.0376.0251.0376',
  ],
  ...[
    'https://0.0.0.0',
    'https://0',
    'https://0x0',
    'https://224.0.0.1',
    'https://255.255.255.255',
    'https://240.0.0.1',
  ],
  ...[
    'https://192.0.2.1',
    'https://198.51.100.1',
    'https://203.0.113.1',
    'https://198.18.0.1',
    'https://192.0.0.192',
  ],
  ...[
    'https://[::]',
    'https://[::ffff:127.0.0.1]',
    'https://[::ffff:7f00:1]',
    'https://[::ffff:8.8.8.8]',
    'https://[::10.0.0.1]',
  ],
  ...[
    'https://[64:ff9b::7f00:1]',
    'https://[64:ff9b::10.0.0.1]',
    'https://[64:ff9b:1::1]',
    'https://[2002:7f00:1::]',
  ],
  ...[
    'https://[2001:0:53aa:64c::1]',
    'https://[fe80::1]',
    'https://[fc00::1]',
    'https://[fd00:ec2::254]',
    'https://[ff02::1]',
  ],
  ...['https://[2001:db8::1]', 'https://[::ffff:0:7f00:1]', 'https://[fec0::1]', 'https://[3fff::1]'],
];

const USER_INFO = [
  ...[
    'https://user@example.com',
    'https://user:pass@example.com/x',
    'https://:pass@example.com',
    'https://@example.com',
  ],
  ...[
    'https://example.com@127.0.0.1/',
    'https://example.com%40@10.0.0.1',
    'https://a@b@example.com',
    'https://:@example.com',
  ],
];

const MALFORMED = [
  ...[
    '',
    ' ',
    'example.com',
    '//example.com',
    'http://example.com',
    'HTTP://example.com',
    'ftp://example.com',
    'wss://example.com',
  ],
  ...[
    'https:example.com',
    'https:/example.com',
    'https:///example.com',
    'https:\\\\example.com',
    'https://',
    'https://?x',
    'https://#x',
  ],
  ...[
    'https://example.com\\@127.0.0.1',
    'https://example.com/a b',
    ' https://example.com',
    'https://example.com ',
    'https://example.com\r\nHost: a',
  ],
  ...[
    'https://exam\tple.com',
    'https://exam\u00adple.com',
    'https://example.com/\u0000',
    'https://example.com:99999',
    'https://[::1',
    'https://[fe80::1%25eth0]',
  ],
  ...[
    'https://example.com/#x',
    'https://example.com#@127.0.0.1',
    'https://1.2.3.4.5',
    'https://256.0.0.1',
    'https://exa<mple.com',
    'javascript:alert(1)',
  ],
  ...['file:///etc/passwd', 'data:text/plain,x', 'https://example.com:x', 'https://%00'],
];

const FINE = [
  ...[
    'https://example.com',
    'https://example.com/',
    'HTTPS://Example.COM/Hooks',
    'https://example.com:8443/hooks?a=b&c=%20',
  ],
  ...[
    'https://hooks.example.com./x',
    'https://8.8.8.8/x',
    'https://[2606:4700::1111]:8443/',
    'https://bücher.example/ü',
    'https://localhost.example.com',
  ],
  ...[
    'https://notlocalhost/',
    'https://example.com/@user',
    'https://example.com/?to=http://127.0.0.1/',
    'https://10.0.0.1.example.com/',
  ],
  ...['https://127.0.0.1.nip.example/'],
];

test('special addresses are refused in every spelling', () => {
  assert.deepEqual(
    [...LOOPBACK, ...PRIVATE].filter((url) => issueOf(url) !== 'invalid_value'),
    [],
  );
});

test('user information is refused, empty or not', () => {
  assert.deepEqual(
    USER_INFO.filter((url) => issueOf(url) !== 'invalid_value'),
    [],
  );
});

test('what is no plain https URL is refused by its form', () => {
  assert.deepEqual(
    MALFORMED.filter((url) => issueOf(url) !== 'invalid_format'),
    [],
  );
});

test('URLs of the public internet are taken, names without asking what they resolve to', () => {
  assert.deepEqual(
    FINE.filter((url) => issueOf(url) !== null),
    [],
  );
});

test('where loopback is allowed, loopback passes and nothing else', () => {
  assert.deepEqual(
    LOOPBACK.filter((url) => issueOf(url, true) !== null),
    [],
  );
  assert.deepEqual(
    [...PRIVATE, ...USER_INFO, ...MALFORMED].filter((url) => issueOf(url, true) === null),
    [],
  );
});

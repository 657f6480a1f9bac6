import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireWebhookUrl } from '../../../src/domain/webhooks/url.ts';
import { InvalidRequest } from '../../../src/kernel/fail.ts';
import { LOOPBACK_URLS, PRIVATE_URLS } from '../../support/hostile-urls.ts';

/** Returns the issue of a URL; null if it is accepted. */
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
    // An error never repeats the caller's input.
    assert.ok(url.length < 10 || !error.message.includes(url));
    return error.items[0]?.issue ?? '';
  }
}

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

test('special addresses are rejected in every spelling', () => {
  assert.deepEqual(
    [...LOOPBACK_URLS, ...PRIVATE_URLS].filter((url) => issueOf(url) !== 'invalid_value'),
    [],
  );
});

test('user information in a URL is rejected, even if empty', () => {
  assert.deepEqual(
    USER_INFO.filter((url) => issueOf(url) !== 'invalid_value'),
    [],
  );
});

test('port 0 is rejected in every spelling', () => {
  for (const port of ['0', '00', '000000']) {
    assert.equal(issueOf(`https://example.com:${port}/hooks`, true), 'invalid_value', port);
  }
});

test('anything but a plain https URL is rejected by its format', () => {
  assert.deepEqual(
    MALFORMED.filter((url) => issueOf(url) !== 'invalid_format'),
    [],
  );
});

test('URLs of the public internet are accepted, and names are not resolved', () => {
  assert.deepEqual(
    FINE.filter((url) => issueOf(url) !== null),
    [],
  );
});

test('if loopback is allowed, only loopback passes in addition', () => {
  assert.deepEqual(
    LOOPBACK_URLS.filter((url) => issueOf(url, true) !== null),
    [],
  );
  assert.deepEqual(
    [...PRIVATE_URLS, ...USER_INFO, ...MALFORMED].filter((url) => issueOf(url, true) === null),
    [],
  );
});

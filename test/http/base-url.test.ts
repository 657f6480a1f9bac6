import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isHost } from '../../src/http/base-url.ts';
import { type HttpWorld, startHttpWorld } from './http-world.ts';

const OWN_URL = 'http://panel.test';

let world: HttpWorld;
before(async () => {
  world = await startHttpWorld();
});
after(() => world.close());

/** The URL of the service in the commands of the front page. */
async function shownUrl(shownBy: HttpWorld, host: string): Promise<string | undefined> {
  const { text } = await shownBy.visitor().get('/', { host });
  return /(https?:\/\/[^\s<]*)\/csrf\.php/.exec(text)?.[1];
}

test('a host is a name or an IP address, with or without a port', () => {
  for (const host of ['localhost', 'a.example', 'A-b.example:8080', '192.0.2.1', '[2001:db8::1]:80']) {
    assert.ok(isHost(host), host);
  }
  const broken = ['', 'a b<x>', 'a..b', '-a', 'a-', 'a_b', 'user@a', 'a/b', 'a:', 'a:65536', 'a:80:80'];
  for (const host of [...broken, '[::g]', '[1]', '::1', '192.0.2.256', `${'a'.repeat(64)}.b`]) {
    assert.ok(!isHost(host), host);
  }
});

test('a page names the requested host, or our own address if that is no valid host', async () => {
  assert.equal(await shownUrl(world, 'Shop.Example:8080'), 'http://shop.example:8080');
  assert.equal(await shownUrl(world, '[2001:db8::1]'), 'http://[2001:db8::1]');
  for (const host of ['evil"><b>', 'a b', 'x:99999', '[::x]']) {
    assert.equal(await shownUrl(world, host), OWN_URL, host);
  }
});

test('the configured URL wins over every Host header', async () => {
  const configured = await startHttpWorld({ settings: { baseUrl: 'https://skerry.example/' } });
  try {
    for (const host of ['other.example', 'a b<x>']) {
      assert.equal(await shownUrl(configured, host), 'https://skerry.example', host);
    }
  } finally {
    await configured.close();
  }
});

/** Reverse DNS over a real PowerDNS, and what resolvers are told by it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { PowerDns } from '../../../src/drivers/dns/powerdns.ts';
import { DnsError } from '../../../src/ports/dns.ts';
import { API_KEY, NO_PDNS, type Pdns, startPdns } from '../../support/pdns.ts';
import { FULL_ONLY } from '../../support/runs.ts';

const V4 = '203.0.113.10';
const V6 = '2001:db8:0:a0f::25';
const ZONES = ['113.0.203.in-addr.arpa.', '8.b.d.0.1.0.0.2.ip6.arpa.'] as const;
const NAMESERVERS = ['ns1.example.org.', 'ns2.example.org.'];

/** The fault, after a look whether its words name what they must not. */
async function fault(attempt: Promise<unknown>): Promise<string> {
  const error: unknown = await attempt.then(
    () => assert.fail('it did not fail'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof DnsError, String(error));
  assert.doesNotMatch(
    `${error.message} ${String(error.cause ?? '')}`,
    /\d+\.\d+\.\d+|a-key|2001:|arpa|example/,
  );
  return `${error.fault}: ${error.message}`;
}

describe('PowerDNS', { skip: FULL_ONLY.skip || NO_PDNS }, () => {
  let pdns: Pdns;
  let dns: PowerDns;
  before(async () => {
    pdns = await startPdns();
    dns = new PowerDns({ url: pdns.url, key: pdns.key });
    for (const zone of ZONES) assert.equal(await dns.createZone(zone, NAMESERVERS), true);
  });
  after(() => pdns?.close());

  it('serves a name that was set, the one that it was changed to, and none that was removed', async () => {
    for (const address of [V4, V6]) {
      await dns.set(address, 'web.example.org');
      assert.deepEqual(await pdns.lookUp(address), ['web.example.org.']);
      await dns.set(address, 'Mail.Example.org');
      await dns.set(address, 'Mail.Example.org');
      assert.deepEqual(await pdns.lookUp(address), ['Mail.Example.org.']);
      await dns.set(address, null);
      await dns.set(address, null);
      assert.deepEqual(await pdns.lookUp(address), []);
    }
  });

  it('makes a zone once, and tells which there are', async () => {
    assert.equal(await dns.createZone(ZONES[0], NAMESERVERS), false);
    assert.deepEqual([...(await dns.zones())].sort(), [...ZONES]);
    assert.equal(
      await pdns.api('POST', '/zones', { name: 'example.org.', kind: 'Native', nameservers: [] }),
      201,
    );
    assert.deepEqual([...(await dns.zones())].sort(), [...ZONES]);
  });

  it('holds a name in the longest zone, as soon as there is one, and in the next when that is gone', async () => {
    await dns.set('203.0.114.1', null);
    assert.match(await fault(dns.set('203.0.114.1', 'web.example.org')), /^no_zone: /);
    await pdns.api('POST', '/zones', { name: '0.203.in-addr.arpa.', kind: 'Native', nameservers: [] });
    await dns.set('203.0.114.1', 'web.example.org');
    assert.deepEqual(await pdns.lookUp('203.0.114.1'), ['web.example.org.']);
    await dns.createZone('114.0.203.in-addr.arpa.', NAMESERVERS);
    await dns.set('203.0.114.1', 'longest.example.org');
    assert.deepEqual(await pdns.lookUp('203.0.114.1'), ['longest.example.org.']);
    await pdns.api('DELETE', '/zones/114.0.203.in-addr.arpa.');
    await dns.set('203.0.114.1', 'again.example.org');
    assert.deepEqual(await pdns.lookUp('203.0.114.1'), ['again.example.org.']);
  });

  it('serves names of a part of a /24 where its holder points to it', async () => {
    const whole = '115.0.203.in-addr.arpa.';
    const part = `16/28.${whole}`;
    for (const zone of [whole, part]) await dns.createZone(zone, NAMESERVERS);
    const cname = {
      ...{ name: `17.${whole}`, type: 'CNAME', ttl: 300, changetype: 'REPLACE' },
      records: [{ content: `17.${part}`, disabled: false }],
    };
    assert.equal(await pdns.api('PATCH', `/zones/${whole}`, { rrsets: [cname] }), 204);
    await dns.set('203.0.115.17', 'part.example.org');
    assert.deepEqual(await pdns.lookUp('203.0.115.17'), [`17.${part}`, 'part.example.org.']);
    // Without the part, the name would have to stand where it points away.
    assert.equal(await pdns.api('DELETE', '/zones/16=2F28.115.0.203.in-addr.arpa.'), 204);
    assert.match(await fault(dns.set('203.0.115.17', 'part.example.org')), /^refused: .* 422$/);
  });

  it('is told that a zone is a copy, and does not change it', async () => {
    const copy = { name: '116.0.203.in-addr.arpa.', kind: 'Slave', masters: ['192.0.2.1'] };
    assert.equal(await pdns.api('POST', '/zones', copy), 201);
    const fresh = new PowerDns({ url: pdns.url, key: pdns.key });
    assert.match(await fault(fresh.set('203.0.116.1', 'web.example.org')), /^refused: .*copy/);
  });

  it('does not take a wrong key', async () => {
    const wrong = new PowerDns({ url: pdns.url, key: 'a-key-that-is-not-it' });
    assert.match(await fault(wrong.set(V4, 'web.example.org')), /^key: SKERRY_DNS_KEY/);
    assert.match(await fault(wrong.zones()), /^key: /);
    assert.deepEqual(await pdns.lookUp(V4), []);
  });

  it('that is away is left alone for a moment, and asked again when it is back', async () => {
    await pdns.stop();
    assert.match(await fault(dns.set(V4, 'web.example.org')), /^unreachable: .*(refused|reset)/);
    assert.match(await fault(dns.set(V4, 'web.example.org')), /^unreachable: .*a moment ago/);
    await pdns.start();
    // Whoever asks is the task, which comes again: here it is another one.
    const later = new PowerDns({ url: pdns.url, key: pdns.key });
    await later.set(V4, 'web.example.org');
    assert.deepEqual(await pdns.lookUp(V4), ['web.example.org.']);
  });
});

describe('what is no PowerDNS', FULL_ONLY, () => {
  let server: Server;
  let answer: RequestListener = (_request, response) => response.end();
  const seen: string[] = [];
  before(async () => {
    server = createServer((request, response) => {
      seen.push(String(request.headers['x-api-key']));
      answer(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  /** How a fresh driver takes this answer. */
  async function met(how: RequestListener, timeoutMs = 10_000): Promise<string> {
    answer = how;
    const { port } = server.address() as AddressInfo;
    return await fault(new PowerDns({ url: `http://127.0.0.1:${port}`, key: API_KEY, timeoutMs }).zones());
  }

  it('is told in words', async () => {
    assert.match(
      await met((_, response) => response.end('<html>')),
      /^unreachable: SKERRY_DNS_URL: no API .*200/,
    );
    assert.match(await met((_, response) => response.writeHead(404).end()), /^unreachable: .*404/);
    assert.match(
      await met((_, response) => response.writeHead(500).end('192.0.2.1')),
      /^unreachable: .*500$/,
    );
    assert.match(await met((_, response) => response.destroy()), /^unreachable: .*reset/);
  });

  it('that never answers, or never ends its answer, is not waited for', async () => {
    assert.match(await met(() => undefined, 200), /^unreachable: .*timeout/);
    assert.match(await met((_, response) => void response.write('['), 200), /^unreachable: .*timeout/);
    const much = Buffer.alloc(17 * 1024 ** 2, ' ');
    assert.match(await met((_, response) => response.end(much)), /^unreachable: .*(too long|timeout)/);
  });

  it('that leads elsewhere gets no second request with the key', async () => {
    const before = seen.length;
    const away = { location: 'http://127.0.0.1:9/' };
    assert.match(await met((_, response) => response.writeHead(307, away).end()), /^unreachable: .*307/);
    assert.equal(seen.length, before + 1);
  });
});

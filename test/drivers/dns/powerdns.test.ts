/** Reverse DNS over a real PowerDNS, as a resolver sees it. */
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

/** Returns the fault, after checking that its message contains no secret and no address. */
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

  it('PowerDNS serves a name that was set or changed, and none after removal', async () => {
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

  it('a zone is created once and listed', async () => {
    assert.equal(await dns.createZone(ZONES[0], NAMESERVERS), false);
    assert.deepEqual([...(await dns.zones())].sort(), [...ZONES]);
    assert.equal(
      await pdns.api('POST', '/zones', { name: 'example.org.', kind: 'Native', nameservers: [] }),
      201,
    );
    assert.deepEqual([...(await dns.zones())].sort(), [...ZONES]);
  });

  it('a name is set in the longest matching zone, as soon as it exists', async () => {
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

  it('a name in a part of a /24 is served through the CNAME of the parent zone', async () => {
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
    // Without the partial zone, the name would have to replace the CNAME.
    assert.equal(await pdns.api('DELETE', '/zones/16=2F28.115.0.203.in-addr.arpa.'), 204);
    assert.match(await fault(dns.set('203.0.115.17', 'part.example.org')), /^refused: .* 422$/);
  });

  it('a secondary zone is reported as a copy and not changed', async () => {
    const copy = { name: '116.0.203.in-addr.arpa.', kind: 'Slave', masters: ['192.0.2.1'] };
    assert.equal(await pdns.api('POST', '/zones', copy), 201);
    const fresh = new PowerDns({ url: pdns.url, key: pdns.key });
    assert.match(await fault(fresh.set('203.0.116.1', 'web.example.org')), /^refused: .*copy/);
  });

  it('a wrong API key is reported', async () => {
    const wrong = new PowerDns({ url: pdns.url, key: 'a-key-that-is-not-it' });
    assert.match(await fault(wrong.set(V4, 'web.example.org')), /^key: SKERRY_DNS_KEY/);
    assert.match(await fault(wrong.zones()), /^key: /);
    assert.deepEqual(await pdns.lookUp(V4), []);
  });

  it('requests fail fast for a moment while PowerDNS is down, and work again afterward', async () => {
    await pdns.stop();
    assert.match(await fault(dns.set(V4, 'web.example.org')), /^unreachable: .*(refused|reset)/);
    assert.match(await fault(dns.set(V4, 'web.example.org')), /^unreachable: .*a moment ago/);
    await pdns.start();
    // The retried job may run in another process, which has no backoff.
    const later = new PowerDns({ url: pdns.url, key: pdns.key });
    await later.set(V4, 'web.example.org');
    assert.deepEqual(await pdns.lookUp(V4), ['web.example.org.']);
  });
});

describe('PowerDNS failures', FULL_ONLY, () => {
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

  /** Returns the fault of a new driver for this response. */
  async function faultWith(how: RequestListener, timeoutMs = 10_000): Promise<string> {
    answer = how;
    const { port } = server.address() as AddressInfo;
    return await fault(new PowerDns({ url: `http://127.0.0.1:${port}`, key: API_KEY, timeoutMs }).zones());
  }

  it('a server that is not PowerDNS is reported in plain words', async () => {
    assert.match(
      await faultWith((_, response) => response.end('<html>')),
      /^unreachable: SKERRY_DNS_URL: this is not a PowerDNS API \(HTTP 200\)/,
    );
    assert.match(await faultWith((_, response) => response.writeHead(404).end()), /^unreachable: .*404/);
    assert.match(
      await faultWith((_, response) => response.writeHead(500).end('192.0.2.1')),
      /^unreachable: .*500$/,
    );
    assert.match(await faultWith((_, response) => response.destroy()), /^unreachable: .*reset/);
  });

  it('a response that never arrives or never ends times out', async () => {
    assert.match(await faultWith(() => undefined, 200), /^unreachable: .*timeout/);
    assert.match(await faultWith((_, response) => void response.write('['), 200), /^unreachable: .*timeout/);
    const large = Buffer.alloc(17 * 1024 ** 2, ' ');
    assert.match(
      await faultWith((_, response) => response.end(large)),
      /^unreachable: .*(too large|timeout)/,
    );
  });

  it('a redirect is not followed, so the key is not sent elsewhere', async () => {
    const before = seen.length;
    const redirect = { location: 'http://127.0.0.1:9/' };
    assert.match(
      await faultWith((_, response) => response.writeHead(307, redirect).end()),
      /^unreachable: .*307/,
    );
    assert.equal(seen.length, before + 1);
  });
});

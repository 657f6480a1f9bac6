/** What customers do to names of their addresses, seen by a resolver: the whole service, a real PowerDNS. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { runOperator } from '../../../src/operator/run.ts';
import { NO_PDNS, type Pdns, startPdns } from '../../support/pdns.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';

const ORDER = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 };

describe('reverse DNS of the service', { skip: FULL_ONLY.skip || NO_PDNS }, () => {
  let pdns: Pdns;
  let world: World;
  let api: V1Client;
  let path = '';
  let ipv4 = '';
  let ipv6 = '';
  before(async () => {
    pdns = await startPdns();
    world = await startWorld({ SKERRY_DNS_URL: pdns.url, SKERRY_DNS_KEY: pdns.key });
    const customer = await world.customer();
    await world.addBalance(customer, 5_000n);
    api = V1Client.forUrl(world.url, await createApiToken(customer));
    await customer.post('/deploy-api.php', { ...ORDER, root_password: 'correct horse battery' });
    await world.settle();
    const [server] = (await api.get('/servers')).body.data;
    path = `/servers/${server.id}`;
    ipv4 = server.ipv4.address;
    ipv6 = server.ipv6.address;
  });
  after(async () => {
    await world?.close();
    await pdns?.close();
  });

  const name = async (body: object) => assert.equal((await api.post(`${path}/rdns`, body)).status, 200);
  const lookUp = async () => [...(await pdns.lookUp(ipv4)), ...(await pdns.lookUp(ipv6))];
  const operator = async (...argv: string[]) => {
    const lines: string[] = [];
    const say = (line: string) => void lines.push(line);
    const { service, db } = world.opened;
    const doors = {
      settings: () => [],
      database: async () => db,
      service: async () => ({ service, register: async () => undefined, coins: null }),
    };
    const code = await runOperator(argv, doors, undefined, { out: say, err: say, ask: null });
    return { code, said: lines.join('\n') };
  };

  it('has no zones at first: the operator is told, and makes them, and what waited is published', async () => {
    await name({ ipv4: 'web.example.org', ipv6: 'six.example.org' });
    await world.settle();
    assert.deepEqual(await lookUp(), []);
    const status = await operator('status');
    assert.equal(status.code, 1);
    assert.match(status.said, /WARN {2}reverse DNS +2 names have no zone/);
    const check = await operator('dns', 'check');
    assert.equal(check.code, 1);
    assert.match(check.said, /WARN .*198\.18\.0\.0\/23 in par has no zone 0\.18\.198\.in-addr\.arpa\./);
    assert.match(
      (await operator('dns', 'zones')).said,
      /^par +198\.18\.0\.0\/23 +1\.18\.198\.in-addr\.arpa\. +MISSING$/m,
    );
    assert.match((await operator('dns', 'zones', '--create')).said, /go together/);
    const made = await operator('dns', 'zones', '--create', '--nameserver', 'ns1.example.org');
    assert.equal(made.code, 0, made.said);
    assert.match(made.said, /^16 zones created$/m);
    assert.doesNotMatch(made.said, /MISSING/);
    await world.settle();
    assert.deepEqual(await lookUp(), ['web.example.org.', 'six.example.org.']);
    const again = await operator('dns', 'check');
    assert.deepEqual([again.code, /WARN|FAIL|published/.test(again.said)], [0, false], again.said);
  });

  it('follows what the customer says', async () => {
    await name({ ipv4: 'Mail.example.org' });
    await name({ ipv6: 'other.example.org', address: ipv6.replace(/::1$/, '::25') });
    await world.settle();
    assert.deepEqual(await lookUp(), ['Mail.example.org.', 'six.example.org.']);
    assert.deepEqual(await pdns.lookUp(ipv6.replace(/::1$/, '::25')), ['other.example.org.']);
    await name({ ipv6: null });
    await world.settle();
    assert.deepEqual(await lookUp(), ['Mail.example.org.']);
  });

  it('catches up when PowerDNS was away, and when it was set up anew', async () => {
    await pdns.stop();
    await name({ ipv4: 'late.example.org' });
    await world.settle();
    await pdns.start();
    // The task comes again by the clock that is moved, the driver asks again by the real one.
    const deadline = Date.now() + 20_000;
    while ((await lookUp())[0] !== 'late.example.org.') {
      assert.ok(Date.now() < deadline, 'it does not catch up');
      await world.advance(31);
    }
    await pdns.api('DELETE', '/zones/0.18.198.in-addr.arpa.');
    await operator('dns', 'zones', '--create', '--nameserver', 'ns1.example.org');
    assert.match((await operator('dns', 'publish')).said, /publishing the names of 1 server/);
    await world.settle();
    assert.deepEqual(await lookUp(), ['late.example.org.']);
  });

  it('knows nothing of a server that is destroyed', async () => {
    await name({ ipv6: 'six.example.org' });
    await world.settle();
    assert.equal((await lookUp()).length, 2);
    assert.equal((await api.delete(path)).status, 202);
    await world.advance(60);
    assert.equal((await api.get(path)).status, 404);
    assert.deepEqual(await lookUp(), []);
    assert.deepEqual(await pdns.lookUp(ipv6.replace(/::1$/, '::25')), []);
    assert.deepEqual(await world.opened.db.rows('select from published_rdns'), []);
  });
});

/** Customers' changes of reverse names, seen by a resolver: the whole service with a real PowerDNS. */
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

  const setNames = async (body: object) => assert.equal((await api.post(`${path}/rdns`, body)).status, 200);
  const lookUp = async () => [...(await pdns.lookUp(ipv4)), ...(await pdns.lookUp(ipv6))];
  const operator = async (...argv: string[]) => {
    const lines: string[] = [];
    const write = (line: string) => void lines.push(line);
    const { service, db } = world.opened;
    const dependencies = {
      settings: () => [],
      database: async () => db,
      service: async () => ({
        service,
        register: async () => undefined,
        carryOut: async () => undefined,
        coins: null,
      }),
    };
    const code = await runOperator(argv, dependencies, undefined, { out: write, err: write, ask: null });
    return { code, output: lines.join('\n') };
  };

  it('missing zones are reported, and names are published once the operator creates them', async () => {
    await setNames({ ipv4: 'web.example.org', ipv6: 'six.example.org' });
    await world.settle();
    assert.deepEqual(await lookUp(), []);
    const status = await operator('status');
    assert.equal(status.code, 1);
    assert.match(status.output, /WARN {2}reverse DNS +2 names have no zone/);
    const check = await operator('dns', 'check');
    assert.equal(check.code, 1);
    assert.match(check.output, /WARN .*198\.18\.0\.0\/23 in par has no zone 0\.18\.198\.in-addr\.arpa\./);
    assert.match(
      (await operator('dns', 'zones')).output,
      /^par +198\.18\.0\.0\/23 +1\.18\.198\.in-addr\.arpa\. +MISSING$/m,
    );
    assert.match((await operator('dns', 'zones', '--create')).output, /together/);
    const created = await operator('dns', 'zones', '--create', '--nameserver', 'ns1.example.org');
    assert.equal(created.code, 0, created.output);
    assert.match(created.output, /^16 zones created$/m);
    assert.doesNotMatch(created.output, /MISSING/);
    await world.settle();
    assert.deepEqual(await lookUp(), ['web.example.org.', 'six.example.org.']);
    const again = await operator('dns', 'check');
    assert.deepEqual([again.code, /WARN|FAIL|published/.test(again.output)], [0, false], again.output);
  });

  it('a change by the customer is published', async () => {
    await setNames({ ipv4: 'Mail.example.org' });
    await setNames({ ipv6: 'other.example.org', address: ipv6.replace(/::1$/, '::25') });
    await world.settle();
    assert.deepEqual(await lookUp(), ['Mail.example.org.', 'six.example.org.']);
    assert.deepEqual(await pdns.lookUp(ipv6.replace(/::1$/, '::25')), ['other.example.org.']);
    await setNames({ ipv6: null });
    await world.settle();
    assert.deepEqual(await lookUp(), ['Mail.example.org.']);
  });

  it('names are published after an outage of PowerDNS, and again after its zones were lost', async () => {
    await pdns.stop();
    await setNames({ ipv4: 'late.example.org' });
    await world.settle();
    await pdns.start();
    // The job is retried on the business clock, but the driver's backoff uses real time.
    const deadline = Date.now() + 20_000;
    while ((await lookUp())[0] !== 'late.example.org.') {
      assert.ok(Date.now() < deadline, 'the name was not published in time');
      await world.advance(31);
    }
    await pdns.api('DELETE', '/zones/0.18.198.in-addr.arpa.');
    await operator('dns', 'zones', '--create', '--nameserver', 'ns1.example.org');
    assert.match((await operator('dns', 'publish')).output, /publishing the names of 1 server/);
    await world.settle();
    assert.deepEqual(await lookUp(), ['late.example.org.']);
  });

  it('the names of a deleted server are removed', async () => {
    await setNames({ ipv6: 'six.example.org' });
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

/** The HTTP client of the collection: retries, bounds, and secrets. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createAuthority } from '../../support/certificates.ts';
import { SKIP_SLOW } from './support/ansible.ts';
import { type ModuleRunner, startModuleRunner } from './support/module-runner.ts';
import { type Respond, refusal, type StubService, startStubService } from './support/stub-service.ts';

const TOKEN = 'skerry_live_tokenoftheansibletests';
const VOLUME = { id: 'vol_1', object: 'volume', name: 'data', size_gb: 10, attached_to: null };
const ok = (body: object, status = 200) => ({ status, body });
const page = (data: readonly object[]) => ok({ object: 'list', data, has_more: false });

describe('the HTTP client of the Ansible collection', { skip: SKIP_SLOW }, () => {
  let stub: StubService;
  let modules: ModuleRunner;
  let folder: string;
  before(async () => {
    if (SKIP_SLOW) return;
    stub = await startStubService();
    folder = await mkdtemp(join(tmpdir(), 'skerry-client-'));
    await writeFile(join(folder, 'netrc'), 'machine 127.0.0.1 login ada password lovelace\n', {
      mode: 0o600,
    });
    modules = await startModuleRunner({ SKERRY_TOKEN: TOKEN, NETRC: join(folder, 'netrc') });
  });
  after(async () => {
    if (SKIP_SLOW) return;
    await modules.stop();
    await stub.stop();
    await rm(folder, { recursive: true });
  });

  /** Runs a module against these responses; returns its result and the requests. */
  const run = async (module: string, options: object, respond: Respond) => {
    stub.respond = respond;
    const result = await modules.run(module, { api_url: `http://${stub.host}`, ...options });
    return { result, requests: stub.takeRequests() };
  };
  const create = (respond: Respond) =>
    run('volume', { name: 'data', size_gb: 10, region: 'par' }, (request) =>
      request.method === 'GET' ? page([]) : respond(request),
    );
  /** Responds to the first POST one way, and to the others with success. */
  const first = (failure: ReturnType<Respond>): Respond => {
    let count = 0;
    return () => (count++ === 0 ? failure : ok(VOLUME, 201));
  };

  it('sends the token as a bearer token, also if a netrc file has other credentials', async () => {
    const { requests } = await create(() => ok(VOLUME, 201));
    for (const { headers } of requests) assert.equal(headers.authorization, `Bearer ${TOKEN}`);
    assert.ok(requests.length === 2 && requests.every(({ url }) => url.startsWith('/v1/volumes')));
  });

  it('repeats a request with the same idempotency key, and uses a new key for another', async () => {
    const keys = [];
    for (const failure of [null, refusal(503, 'maintenance'), refusal(500, 'internal')]) {
      const { result, requests } = await create(first(failure));
      assert.equal(result.changed, true, result.msg);
      const sent = requests.filter(({ method }) => method === 'POST');
      assert.equal(sent.length, 2);
      assert.equal(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size, 1);
      keys.push(sent[0]?.headers['idempotency-key']);
    }
    assert.equal(new Set(keys).size, 3);
    assert.match(keys.join(' '), /^[0-9a-f-]{36}( [0-9a-f-]{36}){2}$/);
  });

  it('waits as long as the rate limit says, and fails if that is too long', async () => {
    const limited = (seconds: string) => ({
      ...refusal(429, 'rate_limited'),
      headers: { 'retry-after': seconds },
    });
    const startedMs = Date.now();
    // Less than a second counts as a second.
    const { result } = await create(first(limited('0')));
    assert.equal(result.changed, true);
    assert.ok(Date.now() - startedMs >= 1_000);
    const refused = await create(() => limited('301'));
    assert.match(refused.result.msg, /\(429 rate_limited, req_1\)$/);
    assert.deepEqual([refused.result.changed, refused.requests.length], [false, 2]);
  });

  it('gives up after three retries, and says that the request may have been carried out', async () => {
    const lost = await create(() => null);
    assert.equal(lost.requests.filter(({ method }) => method === 'POST').length, 4);
    assert.match(lost.result.msg, /^cannot reach http:.*; the request may have been carried out$/);
    assert.equal(lost.result.changed, true);
  });

  it('does not retry what a retry cannot help', async () => {
    for (const failure of [
      refusal(422, 'unprocessable', [{ field: 'plan', issue: 'unavailable' }]),
      refusal(503, 'maintenance', [{ field: '', issue: 'unavailable', retry_after_s: 600 }]),
    ]) {
      const { result, requests } = await create(() => failure);
      assert.deepEqual([requests.length, result.changed, result.error.status], [2, false, failure.status]);
    }
  });

  it('keeps waiting for a server while the service is unavailable', async () => {
    const server = {
      ...{ id: 'srv_1', object: 'server', name: 'web-1', plan: 's1', ipv4: null, ipv6: null },
      ssh_keys: [],
    };
    const image = { id: 'img_1', type: 'official', family: 'debian', version: '13', variant: null };
    const listed = { ...image, name: null, deprecated_at: null, released_at: '2025-08-09' };
    let polls = 0;
    const { result } = await run(
      'server',
      { name: 'web-1', plan: 's1', region: 'par', image: 'debian-13', ssh_keys: ['k_1'] },
      ({ method, url }) => {
        if (method === 'POST') return ok({ ...server, status: 'provisioning' }, 201);
        if (url.startsWith('/v1/images?')) return page([listed]);
        if (url === '/v1/ssh-keys/k_1') return ok({ id: 'k_1' });
        if (url !== '/v1/servers/srv_1') return page([]);
        polls += 1;
        return polls <= 4 ? refusal(503, 'maintenance') : ok({ ...server, status: 'running' });
      },
    );
    assert.deepEqual([result.changed, result.server?.status, polls], [true, 'running', 5], result.msg);
  });

  it('counts a deletion with a lost response as done', async () => {
    let deletions = 0;
    const { result } = await run('volume', { name: 'data', state: 'absent' }, ({ method }) => {
      if (method === 'GET') return page([VOLUME]);
      deletions += 1;
      return deletions === 1 ? null : refusal(404, 'not_found');
    });
    assert.deepEqual([result.changed, deletions], [true, 2]);
  });

  it('reads every page of a list, up to a bound', async () => {
    const pages = (last: number): Respond => {
      return ({ url }) => {
        const number = Number(new URL(url, 'http://stub.test').searchParams.get('cursor') ?? 0);
        const more =
          number < last ? { has_more: true, next_cursor: String(number + 1) } : { has_more: false };
        return ok({ object: 'list', data: [{ id: `s${number}` }], ...more });
      };
    };
    const { result } = await run('resource_info', { kind: 'plan', filters: { category: 'vps' } }, pages(2));
    assert.deepEqual(result.resources, [{ id: 's0' }, { id: 's1' }, { id: 's2' }]);
    const endless = await run('resource_info', { kind: 'plan' }, pages(1_000));
    assert.equal(endless.requests.length, 100);
    assert.match(endless.result.msg, /has more than 100 items/);
  });

  it('reports something that is not the API, and never follows a redirect', async () => {
    const html = { status: 404, body: '<html>no such page</html>' };
    const { result } = await run('resource_info', { kind: 'plan' }, () => html);
    assert.match(result.msg, /status 404 is not from the Skerry API; check api_url/);
    const { result: empty } = await run('resource_info', { kind: 'plan' }, () => ok({ object: 'plan' }));
    assert.match(empty.msg, /is not a list$/);
    const elsewhere = { status: 302, headers: { location: `http://${stub.host}/elsewhere` } };
    const redirected = await run('resource_info', { kind: 'plan' }, () => elsewhere);
    assert.match(redirected.result.msg, /status 302 is not from the Skerry API/);
    assert.ok(redirected.requests.every(({ url }) => url.startsWith('/v1/plans')));
  });

  it('reads an address as the CLI does', async () => {
    for (const text of [stub.host, `http://${stub.host}/v1`, `HTTP://${stub.host}/`]) {
      const { result } = await run('resource_info', { kind: 'plan', api_url: text }, () => page([]));
      assert.deepEqual(result.resources, [], text);
    }
    for (const text of [
      `http://me:secret@${stub.host}`,
      'ftp://skerry.example',
      'https://a.example/?b',
      '',
    ]) {
      const { result } = await run('resource_info', { kind: 'plan', api_url: text }, () => page([]));
      assert.match(result.msg, /^api_url is not a valid host address/, text);
      assert.ok(!result.msg.includes('secret'));
    }
  });

  it('trusts the authorities of ca_path', async () => {
    const authority = createAuthority();
    const tls = await startStubService(authority.issue(['127.0.0.1']));
    tls.respond = () => page([]);
    await writeFile(join(folder, 'ca.pem'), authority.cert);
    const options = { kind: 'plan', api_url: `https://${tls.host}` };
    const { resources } = await modules.run('resource_info', { ...options, ca_path: join(folder, 'ca.pem') });
    const { msg } = await modules.run('resource_info', options);
    await tls.stop();
    assert.deepEqual(resources, []);
    assert.match(msg, /certificate verify failed/);
  });

  it('never shows a token, also not a malformed one', async () => {
    const malformed = `${TOKEN}\n`;
    const { result } = await run('resource_info', { kind: 'plan', api_token: malformed }, () => page([]));
    assert.equal(result.msg, 'api_token is not a valid API token');
    assert.ok(!modules.output().includes(TOKEN));
    assert.match(modules.output(), /"api_token": "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"/);
  });
});

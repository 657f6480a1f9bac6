/** The sandbox’s control endpoints with valid and bad input: a response in shape that names the field. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import fastify from 'fastify';
import type { SandboxControl } from '../../../src/http/sandbox/control.ts';
import { registerSandboxRoutes } from '../../../src/http/sandbox/routes.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';
import { startWorld, type World } from '../../support/world.ts';

/** Each endpoint with a valid body, except that its address may not exist. */
const BODIES = {
  payments: { coin: 'LTC', address: 'tltc1qnobody', amount: '0.5' },
  blocks: { coin: 'LTC', count: 1 },
  reorgs: { coin: 'LTC', depth: 1, drop: false },
  rates: { coin: 'LTC', usd: '80' },
  faults: { driver: 'compute', operation: 'ensure', times: 0 },
  clock: { advance_s: 0 },
  settle: {},
} as const;
type Name = keyof typeof BODIES;
const NAMES = Object.keys(BODIES) as Name[];

const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

const wrongValue = fc.oneof(
  fc.constantFrom<unknown>(
    ...[null, true, false, '', ' ', [], {}, ['LTC'], { coin: 'LTC' }, 'a\u0000b', '\u0000', 'a\nb', '\ud800'],
    ...[
      0,
      -0,
      -1,
      0.5,
      0.0005,
      1.5,
      5e-324,
      1e21,
      -1e300,
      1.7e308,
      2 ** 53,
      2 ** 63,
      '1e9',
      '٣',
      '0x10',
      '1,5',
    ],
    ...['9'.repeat(30), `0.${'0'.repeat(29)}1`, '9'.repeat(400), 'x'.repeat(201), '🦭'.repeat(100), '\u2028'],
    ...[
      'DOGE',
      'ltc',
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      'compute',
      'chain',
      'poll',
      'BTC',
    ],
    ...["' or 1=1 --", '$1', '%00', '<script>'],
  ),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.double({ noNaN: true, noDefaultInfinity: true, max: 1e5 }),
  fc.jsonValue({ maxDepth: 4 }),
);
const raw = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    ...[
      'null',
      'true',
      '7',
      '"text"',
      '[]',
      '[{}]',
      '{',
      '{"coin":}',
      '{"a":1e999}',
      'coin=LTC',
      '\u0000',
      ' ',
    ],
    ...[
      '{"__proto__":{"coin":"LTC"}}',
      '{"coin":"LTC","coin":"BTC"}',
      deep(4_000),
      `{"coin":${deep(2_000)}}`,
    ],
    'x'.repeat(60_000),
  ),
);
const contentType = fc.constantFrom(
  'application/json',
  'application/json; charset=utf-8',
  'application/x-www-form-urlencoded',
  'text/plain',
  ';',
  '',
);

/** A body of the endpoint with missing, invalid, or extra fields. */
function invalidBody(name: Name): fc.Arbitrary<string> {
  const fields = Object.entries(BODIES[name]).map(([field, right]) =>
    fc.oneof(
      fc.constant([[field, right]]),
      wrongValue.map((value) => [[field, value]]),
      fc.constant([]),
    ),
  );
  const more = fc.array(
    fc.tuple(fc.constantFrom('coin', 'advance', '__proto__', '', 'x'.repeat(90)), wrongValue),
    {
      maxLength: 1,
    },
  );
  return fc
    .tuple(fc.tuple(...fields), more)
    .map(([given, added]) =>
      JSON.stringify(Object.fromEntries([...given.flat(), ...added] as [string, unknown][])),
    );
}

describe('the sandbox', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.close());

  async function post(name: string, payload: string, type = 'application/json') {
    const headers = { 'content-type': type };
    const answer = await world.http.inject({ method: 'POST', url: `/sandbox/${name}`, headers, payload });
    return { status: answer.statusCode, text: answer.body, body: answer.json<Record<string, unknown>>() };
  }

  /** Expects 200, or an error in the sandbox’s one shape. */
  function assertShape({ status, text, body }: Awaited<ReturnType<typeof post>>, sent: string): void {
    if (status === 200) {
      assert.equal(body.ok, true);
      return;
    }
    const about = `${sent.slice(0, 200)} → ${status} ${text}`;
    const { ok, error, msg, field, ...others } = body;
    assert.deepEqual([status, ok, error, others], [400, false, 'bad_request', {}], about);
    assert.ok(typeof msg === 'string' && msg.length > 0, about);
    assert.ok(field === undefined || (typeof field === 'string' && field.length <= 64), about);
  }

  async function refused(name: string, payload: string): Promise<unknown> {
    const answer = await post(name, payload);
    assert.equal(answer.status, 400, payload.slice(0, 80));
    assertShape(answer, payload);
    return answer.body.field;
  }

  for (const name of NAMES) {
    it(`bad input at ${name} gets a response in shape`, async () => {
      const property = fc.asyncProperty(
        fc.oneof({ weight: 3, arbitrary: invalidBody(name) }, raw),
        contentType,
        async (payload, type) => assertShape(await post(name, payload, type), payload),
      );
      await fc.assert(property, { numRuns: PROPERTY_RUNS * 5 });
    });

    it(`the error at ${name} names the invalid, missing, or unknown field`, async () => {
      const right = BODIES[name];
      for (const field of Object.keys(right)) {
        if (field !== 'drop') {
          const { [field]: _, ...missing } = right as Record<string, unknown>;
          assert.equal(await refused(name, JSON.stringify(missing)), field);
        }
        for (const value of [null, [], {}, 'a\u0000b', '\u2028', -1]) {
          assert.equal(await refused(name, JSON.stringify({ ...right, [field]: value })), field);
        }
      }
      for (const typo of ['advance', '__proto__', 'constructor', 'Coin', '']) {
        const comma = Object.keys(right).length ? ',' : '';
        const payload = `${JSON.stringify(right).slice(0, -1)}${comma}"${typo}":1}`;
        assert.equal(await refused(name, payload), typo);
      }
    });

    it(`the endpoint ${name} accepts only a JSON object of a reasonable size`, async () => {
      for (const payload of ['[]', 'null', '7', '{', 'coin=LTC', deep(4_000), `"${'x'.repeat(60_000)}"`]) {
        assert.equal(await refused(name, payload), undefined);
      }
    });
  }
  it('the sandbox shows mails, and stores them sealed', async () => {
    const customer = await world.customer();
    const read = async (query: string) => {
      const answer = await world.http.inject({ url: `/sandbox/mails${query}` });
      return { status: answer.statusCode, body: answer.json<{ mails: { to: string; subject: string }[] }>() };
    };
    await customer.signOut();
    await customer.signIn();
    await world.settle();
    const to = encodeURIComponent(customer.email.toUpperCase());
    const { status, body } = await read(`?to=${to}`);
    assert.equal(status, 200);
    const signIns = body.mails.filter((mail) => mail.subject === 'New sign-in to your account');
    assert.deepEqual(
      signIns.map((mail) => [mail.to, Object.keys(mail)]),
      [[customer.email, ['to', 'subject', 'text']]],
    );
    assert.deepEqual((await read('')).body.mails.at(-1), body.mails.at(-1));
    assert.deepEqual((await read('?to=nobody%40example.org')).body, { ok: true, mails: [] });
    const kept = await world.opened.db.rows(`select mail_sealed from sim.mails`);
    assert.doesNotMatch(JSON.stringify(kept), /New sign-in/);
    for (const [query, field] of [
      ['?to=', 'to'],
      ['?to=a%0Ab%40c', 'to'],
      ['?to=a@b&to=c@d', 'to'],
      [`?to=${'a'.repeat(300)}@b`, 'to'],
      ['?too=a@b', 'too'],
    ]) {
      const refused = await world.http.inject({ url: `/sandbox/mails${query}` });
      assert.deepEqual([refused.statusCode, refused.json<{ field: string }>().field], [400, field], query);
    }
  });

  it('the sandbox clock accepts fractions of a second', async () => {
    for (const advance_s of [0.0005, 5e-324, 1.0004]) {
      assert.equal((await post('clock', JSON.stringify({ advance_s }))).status, 200);
    }
  });

  it('every control refuses Origin: null, another site, and a Host that is not this machine', async () => {
    const calls = [...NAMES.map((name) => ['POST', name] as const), ['GET', 'mails'] as const];
    for (const [method, name] of calls) {
      const send = async (headers: Record<string, string>) =>
        (await world.http.inject({ method, url: `/sandbox/${name}`, headers })).statusCode;
      const hosts = [
        'evil.example:8080',
        'user@127.0.0.1',
        '127.0.0.1/x',
        '127.0.0.1#x',
        'localhost?',
        '::1',
      ];
      const others = [
        { origin: 'null' },
        { origin: 'https://evil.example' },
        ...hosts.map((host) => ({ host })),
      ];
      for (const headers of others)
        assert.equal(await send(headers), 403, `${name} ${JSON.stringify(headers)}`);
      for (const host of ['127.0.0.1:8080', '[::1]:8080', 'localhost']) {
        assert.notEqual(await send({ host }), 403, `${name} ${host}`);
      }
    }
  });

  it('a body needs Content-Type: application/json, and an empty body needs none', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
      assert.equal((await post('settle', '{}', type)).status, 400, type);
      assert.equal((await post('settle', '', type)).status, 200, type);
    }
    assert.equal((await post('settle', '{}', 'application/json; charset=utf-8')).status, 200);
    const bare = await world.http.inject({ method: 'POST', url: '/sandbox/settle' });
    assert.equal(bare.statusCode, 200);
    const untyped = await world.http.inject({ method: 'POST', url: '/sandbox/settle', payload: '{}' });
    assert.equal(untyped.statusCode, 400);
  });

  it('a public sandbox accepts the Host of its URL too', async () => {
    const open = fastify();
    const control = { settle: async () => undefined } as unknown as SandboxControl;
    open.register(async (scope) =>
      registerSandboxRoutes(scope, control, { publicUrl: () => 'http://skerry.example:8080' }),
    );
    const statuses = [];
    for (const host of ['skerry.example', 'SKERRY.example:8080', '127.0.0.1', 'evil.example']) {
      statuses.push(
        (await open.inject({ method: 'POST', url: '/sandbox/settle', headers: { host } })).statusCode,
      );
    }
    await open.close();
    assert.deepEqual(statuses, [200, 200, 200, 403]);
  });
});

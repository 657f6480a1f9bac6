/** Guarantees of every route, tested on all of them. New routes are included automatically. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { openApiText } from '../../../../src/http/v1/openapi/document.ts';
import type { Route } from '../../../../src/http/v1/route.ts';
import { ROUTES } from '../../../../src/http/v1/routes.ts';
import { ACTION_COMMANDS } from '../../../../src/spec/action-commands.ts';
import { OPERATIONS } from '../../../../src/spec/operations.ts';
import { SCOPES, type Scope, scopeCovers } from '../../../../src/spec/scopes.ts';
import { sampleOneIn } from '../../../support/runs.ts';
import { assertApiError, createApiToken, V1Client, type V1Response } from '../../../support/v1-client.ts';
import { type HttpWorld, startHttpWorld } from '../../http-world.ts';

const SOME = sampleOneIn(ROUTES, 6);

/** A path of the route with unknown ids. */
function pathOf(route: Route): string {
  return route.path.replace(/\{\w+\}/g, 'srv_aaaqk3m7qzb5x2l6v4t7n8wyja');
}

function changes(route: Route): boolean {
  return route.method !== 'GET' && !route.changesNothing;
}

function withQuery(route: Route, query: string): string {
  return `${pathOf(route)}?${query}`;
}

describe('every route of the REST surface', () => {
  let world: HttpWorld;
  let api: V1Client;
  const tokens = {} as Record<Scope, string>;

  before(async () => {
    world = await startHttpWorld();
    const customer = await world.customer();
    for (const scope of SCOPES) tokens[scope] = await createApiToken(customer, scope);
    api = V1Client.forApp(world.app, tokens.billing);
  });
  after(() => world.close());

  async function ask(route: Route, client: V1Client, body: unknown = undefined): Promise<V1Response> {
    return await client.call(route.method, pathOf(route), body, { headers: betaOf(route) });
  }

  function betaOf(route: Route): Record<string, string> {
    return route.beta ? { 'x-service-beta': 'true' } : {};
  }

  it('the routes and the table of operations match one to one', () => {
    assert.deepEqual(ROUTES.map((route) => route.id).sort(), [...OPERATIONS].sort());
  });

  it('each command of an action is begun by one route, except those of the operator', () => {
    const begun = ROUTES.flatMap(({ starts }) => starts ?? []);
    const byOperator = ['server.suspend', 'server.move'];
    assert.deepEqual([...begun, ...byOperator].sort(), [...ACTION_COMMANDS].sort());
  });

  it('the committed OpenAPI document is current', () => {
    const committed = readFileSync(new URL('../../../../openapi/v1.json', import.meta.url), 'utf8');
    assert.equal(committed, openApiText(), 'the contract changed: run `npm run openapi` and review the diff');
  });

  it('every object in a response has a name in the document', () => {
    const { paths, webhooks, components } = JSON.parse(openApiText());
    const nameless = (part: unknown): unknown[] => {
      if (typeof part !== 'object' || part === null) return [];
      const word = (part as { properties?: { object?: { const?: string } } }).properties?.object?.const;
      return word !== undefined && word !== 'list' ? [word] : Object.values(part).flatMap(nameless);
    };
    assert.deepEqual(nameless([paths, webhooks]), []);
    for (const schema of Object.values<{ properties: object }>(components.schemas)) {
      assert.deepEqual(nameless(schema.properties), []);
    }
  });

  it('every route answers 401 to a missing, malformed, unknown, expired, or revoked token', async () => {
    const customer = await world.customer();
    const expired = await createApiToken(customer);
    const revoked = await createApiToken(customer);
    await world.db.run(`update api_tokens set expires_at = $1 where digest = sha256($2)`, [
      world.clock.now(),
      Buffer.from(expired),
    ]);
    await world.db.run(`delete from api_tokens where digest = sha256($1)`, [Buffer.from(revoked)]);
    const unknown = `skerry_live_${'a'.repeat(52)}`;
    for (const route of SOME) {
      for (const token of [null, 'nonsense', `${tokens.read} x`, '', unknown, expired, revoked]) {
        assertApiError(await ask(route, api.withToken(token)), 401, 'unauthenticated');
      }
      const basic = { headers: { authorization: `Basic ${tokens.billing}` } };
      const answer = await api.withToken(null).call(route.method, pathOf(route), undefined, basic);
      assertApiError(answer, 401, 'unauthenticated');
    }
  });

  it('every route admits exactly the scopes that cover its own', async () => {
    for (const route of SOME) {
      for (const scope of SCOPES) {
        const answer = await ask(route, api.withToken(tokens[scope]));
        if (scopeCovers(scope, route.scope)) {
          assert.ok(![401, 403].includes(answer.status), `${scope} ${route.id}: ${answer.text}`);
        } else {
          assertApiError(answer, 403, 'forbidden_scope');
        }
      }
    }
  });

  it('every route audits its changes, rejected or not, and nothing else', async () => {
    for (const route of ROUTES) {
      assert.equal(route.audit !== undefined, changes(route), route.id);
      if (!route.audit) continue;
      const customer = await world.customer();
      const client = api.withToken(await createApiToken(customer, 'read'));
      await ask(route, client);
      if (route.scope !== 'read')
        assert.equal((await world.auditLines(customer)).at(-1), `${route.audit} denied`);
    }
  });

  it('every route rejects unknown and read-only keys of its body, and __proto__, by name', async () => {
    for (const route of SOME.filter((one) => one.method !== 'GET' && !one.multipart)) {
      const known = Object.keys(route.body?.properties ?? {});
      const shown = Object.keys((route.reply as { properties?: object } | null)?.properties ?? {});
      const readOnly = shown.filter((name) => !known.includes(name));
      for (const name of ['nope', '__proto__', 'constructor', ...readOnly]) {
        const text = `{${JSON.stringify(name)}:1}`;
        const answer = await api.raw(route.method, pathOf(route), text, {
          headers: { 'content-type': 'application/json', ...betaOf(route) },
        });
        const items = assertApiError(answer, 400, 'invalid_request');
        assert.ok(
          items.some((item) => item.field === name && item.issue === 'unknown_key'),
          `${route.id} ${name}: ${answer.text}`,
        );
      }
    }
  });

  it('every route rejects any number of unknown keys in body and query', async () => {
    for (const route of SOME) {
      for (const count of [7, 8, 9, 100]) {
        const names = Array.from({ length: count }, (_, n) => `junk${n}`);
        const query = withQuery(route, names.map((name) => `${name}=1`).join('&'));
        assertApiError(
          await api.call(route.method, query, undefined, { headers: betaOf(route) }),
          400,
          'invalid_request',
        );
        if (route.method === 'GET' || route.multipart) continue;
        const body = Object.fromEntries(names.map((name) => [name, 1]));
        const items = assertApiError(await ask(route, api, body), 400, 'invalid_request');
        assert.ok(
          items.filter((item) => item.issue === 'unknown_key').length >= Math.min(count, 90),
          route.id,
        );
      }
    }
  });

  it('every route rejects unknown keys of its query by name', async () => {
    for (const route of SOME) {
      for (const name of ['offset', 'limit', 'nope', '__proto__', 'filter[nope]']) {
        const path = withQuery(route, `${encodeURIComponent(name)}=1`);
        const answer = await api.call(route.method, path, undefined, { headers: betaOf(route) });
        const items = assertApiError(answer, 400, 'invalid_request');
        assert.ok(
          items.some((item) => item.field === name && item.issue === 'unknown_key'),
          `${route.id} ${name}: ${answer.text}`,
        );
      }
    }
  });

  it('every route rejects a body that is not a JSON object, with any media type', async () => {
    for (const route of SOME.filter((one) => one.method !== 'GET' && !one.multipart)) {
      for (const [type, text] of [
        ['application/json', '{'],
        ['application/json', '[]'],
        ['application/json', '"x"'],
        ['application/json', 'null'],
        ['text/plain', '{}'],
        ['application/x-www-form-urlencoded', 'a=b'],
        ['application/json', `{"a":"\\u0000"}`],
        ['application/json', '['.repeat(100_000)],
        ['application/json', `{"a":"${'x'.repeat(300_000)}"}`],
      ] as const) {
        const headers = { 'content-type': type };
        const answer = await api.raw(route.method, pathOf(route), text, { headers });
        assertApiError(answer, 400, 'invalid_request');
      }
    }
  });

  it('every response has the rate headers and open CORS', async () => {
    for (const route of SOME) {
      const answer = await ask(route, api);
      assert.equal(answer.headers.get('access-control-allow-origin'), '*', route.id);
      for (const name of ['limit', 'remaining', 'reset']) {
        assert.match(answer.headers.get(`x-ratelimit-${name}`) ?? '', /^\d+$/, `${route.id} ${name}`);
      }
    }
  });

  it('every route is closed by a global maintenance window and by its own', async () => {
    const open = `insert into maintenance_windows (id, operation, starts_at, ends_at, reason)
      values (gen_random_uuid(), $1, $2::timestamptz, $2::timestamptz + interval '5 minutes', 'a new disk')`;
    const raise = 'update service set rules_version = rules_version + 1';
    const close = async () => {
      await world.db.run('delete from maintenance_windows');
      await world.db.run(raise);
    };
    try {
      await world.db.run(open, [null, world.clock.now()]);
      await world.db.run(raise);
      for (const route of SOME) {
        const [item] = assertApiError(await ask(route, api.withToken(null)), 503, 'maintenance');
        assert.equal(item.issue, 'unavailable');
        assert.ok(item.retry_after_s > 0);
      }
      for (const route of SOME) {
        await close();
        await world.db.run(open, [route.id, world.clock.now()]);
        await world.db.run(raise);
        assertApiError(await ask(route, api), 503, 'maintenance');
      }
    } finally {
      await close();
    }
  });

  it('no route changes anything for a frozen customer, who can still read', async () => {
    const customer = await world.customer();
    const client = api.withToken(await createApiToken(customer));
    await world.db.run('update customers set frozen_at = now() where email = $1', [customer.email]);
    for (const route of SOME) {
      const answer = await ask(route, client);
      if (!changes(route) || route.whenFrozen) assert.notEqual(answer.status, 451, route.id);
      else assertApiError(answer, 451, 'jurisdictional_block');
    }
  });
});

/** A customer learns nothing about another: a foreign id gets the response for an unknown one, everywhere. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Route } from '../../../../src/http/v1/route.ts';
import { ROUTES } from '../../../../src/http/v1/routes.ts';
import { formatId, newId } from '../../../../src/kernel/ids.ts';
import { FULL_ONLY, IS_FULL_RUN, sampleOneIn } from '../../../support/runs.ts';
import { assertApiError, type JsonBody, type V1Response } from '../../../support/v1-client.ts';
import { startWorld, type World } from '../../../support/world.ts';
import { CASES } from './cases.ts';
import { type Case, idAt, idsIn, type Kind, ownedIds, type Place, send, withId } from './cases-parts.ts';
import { type Estate, makeEstate, NO_RATES } from './estate.ts';
import { readEverything, rowsOf } from './foreign-ids-footprint.ts';
import { BAD_REQUESTS, malformed } from './foreign-ids-malformed.ts';

/** Lists first: a foreign id in a path later appears in the caller’s own audit log. */
const LISTS_FIRST = [...ROUTES].sort((a, b) => Number(!a.list) - Number(!b.list));
/** Deletions run last, because they remove resources that other requests need. */
const DELETES_LAST = [...ROUTES].sort(
  (a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'),
);

describe('an id of another customer', () => {
  let world: World;
  let own: Estate;
  let foreign: Estate;
  let untouched: unknown;

  async function foreignTraces(): Promise<unknown> {
    return { shown: await readEverything(foreign), rows: await rowsOf(world.opened.db, foreign) };
  }

  before(async () => {
    world = await startWorld(NO_RATES);
    [own, foreign] = await Promise.all([makeEstate(world), makeEstate(world)]);
    await world.settle();
    untouched = await foreignTraces();
  });
  after(() => world.close());

  it('every operation lists its places for ids', async () => {
    assert.deepEqual(Object.keys(CASES).sort(), ROUTES.map((route) => route.id).sort());
    for (const route of ROUTES) assertComplete(route, CASES[route.id](own));
    for (const route of ROUTES.filter((one) => one.list)) {
      const right = CASES[route.id](own);
      const { body } = await send(own.api, route, { ...right, query: {} });
      assertFiltersComplete(route, right, body.data);
    }
  });

  for (const route of sampleOneIn(LISTS_FIRST, 6)) {
    it(`the operation ${route.id} answers a foreign id exactly like an unknown one`, async () => {
      const right = CASES[route.id](own);
      for (const place of right.places) {
        const missing = await assertMissing(route, right, place);
        const theirs = foreignIds(foreign, place.kind);
        const like = async (id: string, what: string) =>
          assertSame(await send(own.api, route, withId(right, place, id)), missing, `${place.name}: ${what}`);
        const strange = [...theirs, ...elsewhere(own, place.kind)];
        await Promise.all(strange.map((id) => like(id, `the foreign ${id}`)));
        // A lenient parser would find the caller’s own resource, or an official image without checking its
        // owner.
        const seeds = [String(idAt(right, place)), ...(place.kind === 'customImage' ? theirs : [])];
        const wrong = seeds.flatMap((id) => Object.entries(malformed(place.kind, id)));
        // Each kind of malformed id in one place. test:full covers all places.
        const tried = IS_FULL_RUN ? wrong : wrong.filter((_, index) => index % 4 === route.path.length % 4);
        await Promise.all(
          tried.map(([what, text]) => assertWrong(route, right, { place, what, text }, like)),
        );
        if (place.in === 'path' && theirs.length > 0) {
          assertSame(await send(own.api, route, CASES[route.id](foreign)), missing, 'all ids foreign');
        }
      }
    });
  }

  it('a foreign cursor is rejected like a forged one', async () => {
    for (const route of ROUTES.filter((one) => one.list)) {
      const mine = { ...CASES[route.id](own), query: { page_size: '1' } };
      const theirs = { ...CASES[route.id](foreign), query: { page_size: '1' } };
      const cursor = (await send(foreign.api, route, theirs)).body.next_cursor ?? 'W10.AA';
      const answers = ['W10.AA', cursor].map((text) =>
        send(own.api, route, { ...mine, query: { ...mine.query, cursor: text } }),
      );
      const [madeUp, stolen] = await Promise.all(answers);
      assert.ok(madeUp && stolen);
      assertApiError(stolen, 400, 'invalid_request');
      assertSame(stolen, madeUp, route.id);
    }
  });

  it('every request succeeds with the caller’s own ids in the same places', FULL_ONLY, async () => {
    for (const route of DELETES_LAST) {
      const answer = await send(own.api, route, CASES[route.id](own));
      assert.equal(answer.status, route.status, `${route.id}: ${answer.text}`);
      if (CASES[route.id](own).places.some((place) => place.in === 'filter')) {
        assert.ok(answer.body.data.length > 0, `${route.id} finds none of the caller’s own`);
      }
      await assertAudited(route, answer);
      if (route.method !== 'GET') await world.settle();
    }
  });

  it('the other customer’s resources and logs are unchanged', async () => {
    assert.deepEqual(await foreignTraces(), untouched);
  });

  /** Expects one audit row per change, and none for reads. */
  async function assertAudited(route: Route, { headers, body }: V1Response): Promise<void> {
    const rows = await world.opened.db.rows<Record<string, string | null>>(
      `select action, result, resource, actor_token, actor_session, ip_country, customer_id from audit_events
        where request_id = $1`,
      [headers.get('x-request-id')],
    );
    if (!route.audit) return assert.deepEqual(rows, [], route.id);
    // An order also attaches its volumes, and sets its backups.
    const [row = {}, ...more] = rows.filter(
      ({ action }) => route.id !== 'servers.create' || action === route.audit,
    );
    assert.deepEqual(more, [], route.id);
    const { action, result, actor_session, ip_country } = row;
    assert.deepEqual([action, result, actor_session, ip_country], [route.audit, 'ok', null, 'XX'], route.id);
    assert.ok(row.actor_token && row.customer_id, route.id);
    // The created resource, or the one in the path.
    const about = [body?.id, ...Object.values(CASES[route.id](own).params)];
    assert.ok(about.includes(row.resource), `${route.id}: ${row.resource}`);
  }

  /** Expects the response for an unknown id, or the error that the table lists. */
  async function assertWrong(
    route: Route,
    right: Case,
    wrong: { readonly place: Place; readonly what: string; readonly text: string },
    like: (id: string, what: string) => Promise<void>,
  ): Promise<void> {
    const { place, what, text } = wrong;
    // A URL cannot contain it.
    if (place.in !== 'body' && what === 'a lone surrogate') return;
    const issue = BAD_REQUESTS[place.in][what];
    if (issue === undefined) return await like(text, what);
    assertBad(await send(own.api, route, withId(right, place, text)), place, issue);
  }

  /** The response to a well-formed id that does not exist. */
  async function assertMissing(route: Route, right: Case, place: Place): Promise<V1Response> {
    const answers: V1Response[] = [];
    for (const id of missingIds(place.kind))
      answers.push(await send(own.api, route, withId(right, place, id)));
    const [missing, ...others] = answers;
    assert.ok(missing);
    for (const other of others) assertSame(other, missing, place.name);
    if (place.in === 'path') assert.deepEqual(assertApiError(missing, 404, 'not_found'), []);
    if (place.in === 'body') {
      const items = assertApiError(missing, 422, 'unprocessable');
      assert.deepEqual(items, [{ field: place.name, issue: 'not_found' }]);
    }
    if (place.in === 'filter') {
      assert.deepEqual(missing.body, { object: 'list', data: [], has_more: false });
    }
    return missing;
  }
});

/** Catalog codes belong to no one. */
function foreignIds(foreign: Estate, kind: Kind): readonly string[] {
  if (kind === 'plan' || kind === 'region') return [];
  const owned = ownedIds(foreign);
  return kind === 'anything' ? Object.values(owned).flat() : owned[kind];
}

/** Ids of the caller that are not under the path’s resource. */
function elsewhere(own: Estate, kind: Kind): readonly string[] {
  if (kind === 'firewallRule') return [own.rule.ofIdle];
  return kind === 'delivery' ? [own.delivery.ofOther] : [];
}

function missingIds(kind: Kind): string[] {
  if (kind === 'plan' || kind === 'region') return ['nowhere', 'zzz'];
  const kinds = kind === 'customImage' ? (['customImage', 'image'] as const) : ([kind] as const);
  return kinds.map((one) => formatId(one === 'anything' ? 'server' : one, newId(new Date())));
}

/** Compares byte by byte, except for values that differ between any two requests. */
function assertSame(answer: V1Response, other: V1Response, where: string): void {
  assert.deepEqual(comparable(answer), comparable(other), where);
}

const VOLATILE_HEADERS = ['x-request-id', 'date', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

function comparable({ status, headers, text }: V1Response): object {
  const kept = [...headers].filter(([name]) => !VOLATILE_HEADERS.includes(name));
  return { status, headers: kept, text: text.replace(/"req_[a-z2-7]{26}"/, '""') };
}

function assertBad(answer: V1Response, place: Place, issue: string): void {
  const items = assertApiError(answer, 400, 'invalid_request');
  assert.deepEqual([items.length, items[0].field, items[0].issue], [1, place.name, issue], answer.text);
}

/** Checks that no id was missed: in the path, the body, its example, or the filters. */
function assertComplete(route: Route, one: Case): void {
  const listed = (where: Place['in']) =>
    one.places.filter((place) => place.in === where).map(({ name }) => name);
  const parameters = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  assert.deepEqual(listed('path'), parameters, route.id);
  assert.deepEqual(Object.keys(one.params), parameters, route.id);
  if (route.multipart) return void assert.ok(one.upload);
  const properties = Object.keys(route.body?.properties ?? {});
  const members = [...Object.keys(one.body ?? {}), ...(one.instead ?? [])];
  assert.deepEqual(members.sort(), properties.sort(), route.id);
  for (const [path] of [...idsIn(one.body), ...idsIn(route.example)]) {
    assert.ok(listed('body').includes(path), `${route.id}: ${path} contains an id`);
  }
  assert.deepEqual(
    listed('filter'),
    Object.keys(one.query).filter((name) => name !== 'hard'),
    route.id,
  );
}

/** Checks that a filter over an id field is listed as a place. */
function assertFiltersComplete(route: Route, one: Case, items: readonly JsonBody[]): void {
  for (const name of Object.keys(route.list?.filters ?? {})) {
    if (!items.some((item) => idsIn(item[name]).length > 0)) continue;
    const spellings = [name, `filter[${name}]`];
    assert.ok(
      one.places.some((place) => place.in === 'filter' && spellings.includes(place.name)),
      `${route.id}: filter[${name}] accepts an id`,
    );
  }
}

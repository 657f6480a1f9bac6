/** Every operation with a limited token, inside and outside. New operations are included automatically. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Route } from '../../../../src/http/v1/route.ts';
import { ROUTES } from '../../../../src/http/v1/routes.ts';
import { formatId, ID_PREFIXES, newId } from '../../../../src/kernel/ids.ts';
import { OPERATIONS } from '../../../../src/spec/operations.ts';
import { COVERED_TYPES, isReachableOperation } from '../../../../src/spec/token-limits.ts';
import { sampleOneIn } from '../../../support/runs.ts';
import { assertApiError, type V1Response } from '../../../support/v1-client.ts';
import { startWorld, type World } from '../../../support/world.ts';
import { CASES } from '../contract/cases.ts';
import { type Case, idAt, ownedIds, type Place, send, withId } from '../contract/cases-parts.ts';
import { type Estate, makeEstate, NO_RATES } from '../contract/estate.ts';
import { assertSame, type LimitedToken, limited } from './limited-world.ts';

type Kind = keyof typeof COVERED_TYPES;
const isCovered = (kind: string): kind is Kind => Object.hasOwn(COVERED_TYPES, kind);
const SOME = sampleOneIn(ROUTES, 4);
/** Resources that a token limited to names cannot create, because they would be outside. */
const OUTSIDE_CREATES = ['servers', 'images', 'ssh_keys', 'volumes', 'firewall_groups'];

describe('every operation with a limited token', () => {
  let world: World;
  let own: Estate;
  /** Reaches nothing. */
  let stranger: LimitedToken;

  before(async () => {
    world = await startWorld({ ...NO_RATES, SKERRY_QUOTAS: 'tokens=1000' });
    own = await makeEstate(world);
    stranger = await limited(own.api, { label_selector: 'no=resource' });
  });
  after(() => world.close());

  const nothing = (kind: keyof typeof ID_PREFIXES) => formatId(kind, newId(new Date()));
  const allIds = () => {
    return Object.entries(ownedIds(own)).flatMap(([kind, ids]) => (isCovered(kind) ? ids : []));
  };
  const coveredPlaces = (one: Case): readonly (Place & { readonly kind: Kind })[] =>
    one.places.filter((place): place is Place & { readonly kind: Kind } => isCovered(place.kind));

  /** Everything but the resource of this place is inside, so that the request fails only because of it. */
  async function assertOutside(route: Route, one: Case, place: Place & { readonly kind: Kind }) {
    const outside = String(idAt(one, place));
    const heldBy = ['volume', 'snapshot'].includes(place.kind) ? [own.server.running] : [];
    const resources = allIds().filter((id) => id !== outside && !heldBy.includes(id));
    const { api } = await limited(own.api, { resources });
    const answer = await send(api, route, one);
    const missing = await send(api, route, withId(one, place, nothing(place.kind)));
    assertSame(answer, missing, `${route.id} ${place.name}`);
    return answer;
  }

  for (const route of SOME) {
    it(`the operation ${route.id} answers a resource outside like a missing one`, async () => {
      const right = CASES[route.id](own);
      // An order names an official image, which has no owner.
      const one = coveredPlaces(right).reduce<Case>((changed, place) => {
        const isOwn = allIds().includes(String(idAt(right, place)));
        return isOwn ? changed : withId(changed, place, String(ownedIds(own)[place.kind][0]));
      }, right);
      for (const place of coveredPlaces(one)) {
        const answer = await assertOutside(route, one, place);
        if (place.in === 'path') assertApiError(answer, 404, 'not_found');
        else if (!isReachableOperation(route.id)) assertApiError(answer, 403, 'forbidden_scope');
        else if (place.in === 'filter') assert.deepEqual(answer.body.data, [], route.id);
        else assert.ok(answer.status === 404 || [403, 422].includes(answer.status), answer.text);
      }
      const answers = await Promise.all(
        coveredPlaces(one).map((place) => send(stranger.api, route, withId(one, place, nothing(place.kind)))),
      );
      const asIs = await send(stranger.api, route, one);
      for (const answer of answers) assertSame(asIs, answer, route.id);
      assertAsTable(route, asIs);
    });
  }

  /** A token that reaches nothing. */
  function assertAsTable(route: Route, answer: V1Response): void {
    const [resources = ''] = route.id.split('.');
    if (!isReachableOperation(route.id)) {
      const [item] = assertApiError(answer, 403, 'forbidden_scope');
      assert.equal(item?.issue, 'not_allowed', answer.text);
    } else if (route.path.includes('{id}') && !['plans', 'regions'].includes(resources)) {
      assertApiError(answer, 404, 'not_found');
    } else if (route.list && !['plans', 'regions', 'limits', 'audit_events', 'tokens'].includes(resources)) {
      const shown = answer.body.data.filter((item: { type?: string }) => item.type !== 'official');
      assert.deepEqual(shown, [], route.id);
    }
  }

  for (const route of SOME.filter(({ method }) => method === 'GET')) {
    it(`the operation ${route.id} shows what is inside as it shows it without limits`, async () => {
      if (route.stream || !isReachableOperation(route.id)) return;
      // These show what the token has done or made itself.
      if (/^(?:webhooks|deliveries|tokens|audit_events)/.test(route.id)) return;
      const { api } = await limited(own.api, { resources: allIds() });
      const [inside, all] = [
        await send(api, route, CASES[route.id](own)),
        await send(own.api, route, CASES[route.id](own)),
      ];
      assert.equal(inside.status, 200, inside.text);
      // Each of these differs from one request, or one token, to the next.
      if (/^(?:account|limits|servers.console|servers.metrics)/.test(route.id)) return;
      assert.deepEqual(inside.body, all.body, route.id);
    });
  }

  it('a token creates only what would be inside', async () => {
    const { api } = await limited(own.api, { resources: allIds() });
    for (const resources of OUTSIDE_CREATES) {
      const route = ROUTES.find(({ id }) => id === `${resources}.create`);
      assert.ok(route);
      const [item] = assertApiError(await send(api, route, CASES[route.id](own)), 403, 'forbidden_scope');
      assert.deepEqual([item?.field, item?.issue], ['limits.resources', 'not_allowed'], resources);
    }
    const made = await api.post(`/servers/${own.server.running}/snapshots`, {});
    assert.equal(made.status, 201, made.text);
  });

  for (const operation of OPERATIONS) {
    it(`a token runs ${operation} only if its limits name it`, async () => {
      const route = ROUTES.find(({ id }) => id === operation);
      assert.ok(route);
      const one = CASES[operation](own);
      // Unknown ids: nothing changes.
      const idle = one.places.reduce<Case>((changed, place) => {
        return place.kind in ID_PREFIXES ? withId(changed, place, nothing(place.kind as 'server')) : changed;
      }, one);
      const others = OPERATIONS.filter((each) => each !== operation);
      const refused = await send((await limited(own.api, { operations: others })).api, route, idle);
      const items = assertApiError(refused, 403, 'forbidden_scope');
      assert.deepEqual(items, [{ field: 'limits.operations', issue: 'not_allowed' }]);
      if (route.stream) return;
      const { api } = await limited(own.api, { operations: [operation] });
      const { text } = await send(api, route, idle);
      assert.ok(!text.includes(`do not allow the operation`), text);
    });
  }
});

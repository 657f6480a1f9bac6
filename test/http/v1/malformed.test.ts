/** Thousands of bodies with exactly one fault, at every route with a body: the response names the field. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { Route } from '../../../src/http/v1/route.ts';
import { ROUTES } from '../../../src/http/v1/routes.ts';
import { byLevel } from '../../support/runs.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';
import { type Schema, validValue } from './fuzz-bodies.ts';

const INPUTS = byLevel({ sample: 300, full: 5_000, soak: 20_000 });
const WITH_BODY = ROUTES.filter(({ body, multipart }) => !multipart && fieldsOf(body).length > 0);

/** A member of a body. */
interface Place {
  readonly holder: Record<string, unknown>;
  readonly key: string;
  readonly schema: Schema;
  /** As a response names it. */
  readonly path: string;
  readonly isRequired: boolean;
}

function fieldsOf(schema: unknown): [name: string, schema: Schema][] {
  return Object.entries((schema as Schema | undefined)?.properties ?? {});
}

/** Lists the members of an object, and of the objects in it. */
function placesIn(holder: Record<string, unknown>, schema: Schema, prefix = ''): Place[] {
  return fieldsOf(schema).flatMap(([key, inner]) => {
    const path = prefix + key;
    const isRequired = schema.required?.includes(key) === true;
    const value = holder[key];
    const below =
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? placesIn(value as Record<string, unknown>, inner, `${path}.`)
        : [];
    return [{ holder, key, schema: inner, path, isRequired }, ...below];
  });
}

/** Every way in which this member is certainly wrong. */
function faultsOf({ schema, isRequired }: Place): readonly (readonly [what: string, value: unknown])[] {
  const { type, maxLength, maxItems, minItems, minimum, maximum } = schema;
  const types = [type].flat();
  return [
    ['a list of lists', [[[]]]],
    ...(types.includes('object') ? [] : [['an object', { nope: 1 }] as const]),
    ...(types.includes('boolean') ? [['a word', 'true'] as const] : [['a truth value', true] as const]),
    ...(types.includes('null') ? [] : [['null', null] as const]),
    ...(isRequired ? [['nothing', undefined] as const] : []),
    ...(maxLength === undefined ? [] : [['a long text', 'x'.repeat(maxLength + 1)] as const]),
    ...(maxItems === undefined ? [] : [['a long list', Array(maxItems + 1).fill('x')] as const]),
    ...(minItems ? [['an empty list', []] as const] : []),
    ...(minimum === undefined ? [] : [['too little', minimum - 1] as const]),
    ...(maximum === undefined ? [] : [['too much', maximum + 1] as const]),
    ...(schema.enum === undefined ? [] : [['another word', 'nope'] as const]),
  ];
}

const request = fc
  .constantFrom(...WITH_BODY)
  .chain((route) =>
    fc.tuple(fc.constant(route), validValue(route.body as unknown as Schema), fc.nat(), fc.nat()),
  );

describe('a body with one fault', () => {
  let world: HttpWorld;
  let api: V1Client;
  before(async () => {
    world = await startHttpWorld({ catalogue: true });
    api = V1Client.forApp(world.app, await createApiToken(await world.customer(), 'billing'));
  });
  after(() => world.close());

  async function assertNamed(route: Route, body: Record<string, unknown>, path: string, what: string) {
    const url = route.path.replace(/\{\w+\}/g, 'srv_aaaqk3m7qzb5x2l6v4t7n8wyja');
    const headers = route.beta ? { 'x-service-beta': 'true' } : {};
    const { status, text, body: answer } = await api.call(route.method, url, body, { headers });
    const where = `${route.id}: ${what} at ${path}: ${text}`;
    assert.ok(status >= 400 && status < 500, where);
    const fields = (answer.error.errors as { field: string }[]).map(({ field }) => field);
    // An item of a list is named by its position.
    assert.ok(
      fields.some((field) => field === path || field.startsWith(`${path}.`)),
      where,
    );
  }

  it(`each of ${INPUTS} malformed bodies gets a 4xx that names the field`, async () => {
    const tried = new Set<string>();
    await fc.assert(
      fc.asyncProperty(request, async ([route, valid, atPlace, atFault]) => {
        const body = JSON.parse(JSON.stringify(valid)) as Record<string, unknown>;
        const places = placesIn(body, route.body as unknown as Schema);
        const place = places[atPlace % places.length];
        assert.ok(place);
        const faults = faultsOf(place);
        const [what, value] = faults[atFault % faults.length] ?? assert.fail(place.path);
        if (value === undefined) delete place.holder[place.key];
        else place.holder[place.key] = value;
        tried.add(route.id);
        await assertNamed(route, body, place.path, what);
      }),
      { numRuns: INPUTS },
    );
    if (INPUTS >= 5_000) assert.equal(tried.size, WITH_BODY.length);
  });
});

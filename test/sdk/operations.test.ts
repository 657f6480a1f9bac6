/** Every operation of the API has a method that sends it, and the real service accepts it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { Skerry } from '@skerry/sdk';
import { type Estate, makeEstate, NO_RATES } from '../http/v1/contract/estate.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { V1Client } from '../support/v1-client.ts';
import { startWorld } from '../support/world.ts';
import { CALLS } from './calls-table.ts';

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}

const document = JSON.parse(
  readFileSync(new URL('../../openapi/v1.json', import.meta.url), 'utf8'),
) as Document;
const OPERATIONS = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { operationId }]) =>
    operationId ? [{ id: operationId, method: method.toUpperCase(), path }] : [],
  ),
);

const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

function methodsOf(skerry: Skerry): string[] {
  return Object.entries(skerry).flatMap(([name, resource]) =>
    Object.getOwnPropertyNames(Object.getPrototypeOf(resource))
      .filter((method) => method !== 'constructor')
      .map((method) => `${name}.${method}`),
  );
}

it('the methods of the client are the operations of the OpenAPI document', () => {
  const skerry = new Skerry({ baseUrl: 'http://127.0.0.1', token: 't' });
  assert.deepEqual(methodsOf(skerry).sort(), OPERATIONS.map(({ id }) => camel(id)).sort());
  assert.deepEqual(Object.keys(CALLS).sort(), OPERATIONS.map(({ id }) => id).sort());
});

/** IDs of resources that do not exist, named by their kind. */
const PLACEHOLDER_ESTATE: Estate = {
  api: V1Client.forUrl('http://127.0.0.1', null),
  server: { running: 'srv_1', stopped: 'srv_2' },
  address: '2001:db8::1',
  image: { official: 'img_1', own: 'custom_1', inserted: 'custom_2' },
  keys: ['k_1', 'k_2'],
  token: 'tok_1',
  topup: { credited: 'top_1', open: 'top_2' },
  volume: { attached: 'vol_1', detached: 'vol_2', spare: 'vol_3', ordered: 'vol_4' },
  snapshot: 'snap_1',
  group: { applied: 'fwg_1', idle: 'fwg_2' },
  rule: { ofApplied: 'fwr_1', ofIdle: 'fwr_2' },
  webhook: { pinged: 'whk_1', other: 'whk_2' },
  delivery: { ofPinged: 'del_1', ofOther: 'del_2' },
  action: 'act_1',
  alert: { listed: 'alr_1', labeled: 'alr_2' },
  ticket: 'tkt_1',
  auditEvent: 'audit_1',
  ledgerEntry: 'led_1',
  quote: { order: 'quo_1', start: 'quo_2', resize: 'quo_3' },
};

const ANY_RESPONSE = JSON.stringify({ object: 'list', data: [], has_more: false });

it('each method sends one request, and each POST has its own idempotency key', async () => {
  let sent: Request[] = [];
  const fetch = async (request: Request) => {
    sent.push(request);
    if (new URL(request.url).pathname !== '/v1/events') return new Response(ANY_RESPONSE);
    return new Response('id: 1\ndata: {}\n\n', { headers: { 'content-type': 'text/event-stream' } });
  };
  const skerry = new Skerry({ baseUrl: 'http://127.0.0.1:9', token: 't', fetch });
  const keys: string[] = [];
  for (const [id, call] of Object.entries(CALLS)) {
    sent = [];
    await call(skerry, PLACEHOLDER_ESTATE);
    const [request, ...more] = sent;
    assert.ok(request && more.length === 0, id);
    const operation = OPERATIONS.find((one) => one.id === id);
    const pattern = new RegExp(`^/v1${operation?.path.replace(/\{\w+\}/g, '\\w+')}$`);
    const { pathname } = new URL(request.url);
    assert.match(pathname, pattern, id);
    assert.equal(request.method, operation?.method, id);
    assert.equal(request.headers.get('authorization'), 'Bearer t', id);
    const key = request.headers.get('idempotency-key');
    assert.equal(key !== null, request.method === 'POST', id);
    if (key !== null) keys.push(key);
  }
  for (const key of keys) {
    assert.match(key, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
  assert.equal(new Set(keys).size, keys.length);
});

it('the real service accepts a call of every method', FULL_ONLY, async () => {
  const world = await startWorld(NO_RATES);
  try {
    const estate = await makeEstate(world);
    const skerry = new Skerry({ baseUrl: world.url, token: estate.api.token ?? '', maxRetries: 0 });
    for (const [id, call] of Object.entries(CALLS)) {
      await assert.doesNotReject(call(skerry, estate), id);
      await world.settle();
    }
  } finally {
    await world.close();
  }
});

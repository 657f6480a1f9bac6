/** The tables behind `skerry mcp`: the generated contract, effects, scopes, and codes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Account } from '@skerry/sdk';
import { Confirmations } from '../../../packages/cli/src/mcp/confirm.ts';
import {
  EXCLUDED,
  isAllowed,
  type Operation,
  quotedAs,
  readContract,
} from '../../../packages/cli/src/mcp/contract.ts';
import { EFFECT_IDS, effectOf } from '../../../packages/cli/src/mcp/effects.ts';
import { cliContract } from '../../../scripts/cli-contract.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const CONTRACT = readContract();

const accountWith = (token: object) => ({ token: { scope: 'write', ...token } }) as unknown as Account;
const allowed = (token: object) =>
  CONTRACT.filter((one) => isAllowed(one, accountWith(token))).map(({ id }) => id);

test('packages/cli/contract.json is generated from the OpenAPI document', () => {
  assert.equal(read('packages/cli/contract.json'), cliContract(read('openapi/v1.json')));
});

test('effects and exclusions name operations of the contract', () => {
  const ids = (JSON.parse(read('packages/cli/contract.json')) as Operation[]).map(({ id }) => id);
  const unknown = [...EFFECT_IDS, ...Object.keys(EXCLUDED)].filter((id) => !ids.includes(id));
  assert.deepEqual(unknown, []);
});

test('every deletion asks, and an operation that the table does not know asks too', () => {
  const silent = CONTRACT.filter(
    (one) => one.method === 'DELETE' && !effectOf(one).consequence?.('the name', {})?.includes('the name'),
  );
  assert.deepEqual(silent, []);
  const [get] = CONTRACT as [Operation];
  const unknown: Operation = { ...get, id: 'servers.explode', method: 'POST', summary: 'Explode a server' };
  assert.equal(effectOf(unknown).kind, 'destroys');
  assert.equal(effectOf(unknown).consequence?.('web-1', {}), 'call "Explode a server" for web-1');
  assert.equal(effectOf({ ...unknown, method: 'GET' }).kind, 'reads');
});

test('an operation is quoted if the service has a price for it', () => {
  const quoted = CONTRACT.flatMap((one) => quotedAs(one, CONTRACT) ?? []);
  const [{ input }] = CONTRACT.filter(({ id }) => id === 'quotes.create') as [Operation];
  const { enum: all } = input.properties.operation as { readonly enum: readonly string[] };
  assert.deepEqual(quoted.sort(), [...all].sort());
});

test('limits of a token on operations apply, and a token may have none', () => {
  assert.deepEqual(allowed({}), allowed({ limits: null }));
  assert.deepEqual(allowed({}), allowed({ limits: { operations: null } }));
  assert.ok(allowed({}).includes('servers.delete') && !allowed({}).includes('balance.get'));
  const limits = { operations: ['servers.get', 'volumes.list', 'balance.get'] };
  assert.deepEqual(allowed({ limits }), ['servers.get', 'volumes.list']);
});

test('a code expires after five minutes, and the oldest of many is dropped', () => {
  let nowMs = 0;
  const confirmations = new Confirmations(() => nowMs);
  const question = { tool: 'x', given: { id: 'a' }, question: 'Sure?', limits: { quote: 'quo_1' } };
  const [late, early] = [confirmations.request(question), confirmations.request(question)];
  nowMs = 5 * 60_000 - 1;
  assert.equal(confirmations.redeem(early, 'x', { id: 'a' })?.limits.quote, 'quo_1');
  nowMs += 1;
  assert.equal(confirmations.redeem(late, 'x', { id: 'a' }), null);
  const first = confirmations.request(question);
  for (let count = 0; count < 100; count += 1) confirmations.request(question);
  assert.equal(confirmations.redeem(first, 'x', { id: 'a' }), null);
});

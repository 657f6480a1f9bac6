import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ACTION_STEPS, type ActionStepRule } from '../../src/spec/action-commands.ts';
import { ACTIONS } from '../../src/spec/actions.ts';
import { COIN_CODES, COINS, confirmationsNeeded, getCoin, isCoinCode } from '../../src/spec/coins.ts';
import { FAILURES, V1_ERRORS, V1_ISSUES } from '../../src/spec/errors.ts';
import { EVENTS } from '../../src/spec/events.ts';
import {
  BONUS_TIERS_USD,
  CYCLE_DISCOUNT_PERCENT,
  CYCLE_MONTHS,
  isCycleMonths,
  LIMITS,
  QUOTAS,
} from '../../src/spec/limits.ts';
import { PANEL_PATHS, serverPath, topupPath } from '../../src/spec/paths.ts';
import { isScope, SCOPES, scopeCovers } from '../../src/spec/scopes.ts';

// ---- errors

test('every failure has a code from the closed list and a sentence as its message', () => {
  for (const [name, failure] of Object.entries(FAILURES)) {
    assert.match(name, /^[a-z]+(_[a-z]+)*$/);
    assert.ok(Object.hasOwn(V1_ERRORS, failure.v1), name);
    assert.match(failure.message, /^\w.*\.$/, name);
  }
});

test('every issue and field of a failure is part of the contract', () => {
  for (const [name, failure] of Object.entries(FAILURES)) {
    if ('issue' in failure) assert.ok(V1_ISSUES.includes(failure.issue), name);
    if ('field' in failure) assert.match(failure.field, /^[A-Za-z_-]+(\.[a-z_]+)*$/, name);
  }
});

test('an unprocessable failure names its issue, so that a program knows what to fix', () => {
  for (const [name, failure] of Object.entries(FAILURES)) {
    if (failure.v1 === 'unprocessable') assert.ok('issue' in failure, name);
  }
});

test('the codes and statuses of the REST surface are those of the specification', () => {
  assert.deepEqual(
    Object.entries(V1_ERRORS).map(([code, { status }]) => `${status} ${code}`),
    [
      '400 invalid_request',
      '401 unauthenticated',
      '403 forbidden_scope',
      '404 not_found',
      '409 conflict_state',
      '422 unprocessable',
      '429 rate_limited',
      '451 jurisdictional_block',
      '500 internal',
      '503 maintenance',
    ],
  );
});

test('the session surface has the codes and statuses of the specification', () => {
  const status = (name: keyof typeof FAILURES) => FAILURES[name].session;
  assert.equal(status('auth_required'), 401);
  assert.equal(status('invalid_csrf'), 403);
  assert.equal(status('bad_credentials'), 400);
  for (const name of ['amount_too_low', 'amount_too_high', 'insufficient_balance', 'bad_password'] as const) {
    assert.equal(status(name), 200, name);
  }
});

// ---- money

test('the bonus tiers are those of the specification, in ascending order', () => {
  assert.deepEqual(BONUS_TIERS_USD, [
    [100, 30],
    [250, 100],
    [500, 300],
    [1000, 700],
  ]);
  for (const [n, [threshold, bonus]] of BONUS_TIERS_USD.entries()) {
    const [thresholdBefore, bonusBefore] = BONUS_TIERS_USD[n - 1] ?? [1, 0];
    assert.ok(threshold > thresholdBefore && bonus > bonusBefore);
    assert.ok(bonus / threshold > bonusBefore / thresholdBefore, 'a larger top-up has a better rate');
  }
});

test('the largest bonus is 70 percent as specified', () => {
  assert.equal(Math.max(...BONUS_TIERS_USD.map(([threshold, bonus]) => bonus / threshold)), 0.7);
});

test('a top-up is at least 30 and at most 10,000 US dollars', () => {
  assert.deepEqual([LIMITS.topupMinCents, LIMITS.topupMaxCents], [3_000n, 1_000_000n]);
});

test('cycles and their discounts are those of the specification', () => {
  assert.deepEqual(CYCLE_DISCOUNT_PERCENT, { 1: 0, 3: 25, 6: 35, 12: 50 });
  assert.deepEqual(CYCLE_MONTHS, Object.keys(CYCLE_DISCOUNT_PERCENT).map(Number));
  for (const months of [0, 2, 4, 24, -1, 1.5, Number.NaN]) assert.ok(!isCycleMonths(months), `${months}`);
  for (const months of CYCLE_MONTHS) assert.ok(isCycleMonths(months));
});

test('every limit and quota is above zero', () => {
  for (const [name, value] of Object.entries({ ...LIMITS, ...QUOTAS })) {
    const values: readonly (number | bigint)[] = typeof value === 'object' ? value : [value];
    assert.ok(values.length > 0 && values.every((each) => each > 0), name);
  }
  assert.equal(LIMITS.webhookBackoffMinutes.length, LIMITS.webhookAttemptsMax - 1);
});

// ---- coins

test('the coins are those of the specification, in its order', () => {
  assert.deepEqual(COIN_CODES, ['BTC', 'XMR', 'ETH', 'USDT', 'USDTTRC', 'LTC', 'TRX', 'SOL']);
});

test('a word that is not a coin code is not accepted, and looking it up throws', () => {
  for (const word of ['', 'btc', 'DOGE', '__proto__', 'constructor']) {
    assert.ok(!isCoinCode(word));
    assert.throws(() => getCoin(word));
  }
});

test('the required confirmations rise with the amount, starting at the first cent', () => {
  for (const { code, confirmations } of COINS) {
    assert.equal(confirmations[0][0], 0, code);
    for (const [n, [fromUsd, count]] of confirmations.entries()) {
      const [before, fewer] = confirmations[n - 1] ?? [-1, 0];
      assert.ok(fromUsd > before && count > fewer, code);
      assert.equal(confirmationsNeeded(code, BigInt(fromUsd) * 100n), count);
      if (n > 0) assert.equal(confirmationsNeeded(code, BigInt(fromUsd) * 100n - 1n), fewer);
    }
    assert.ok(confirmationsNeeded(code, 0n) >= 1);
  }
});

test('the two Tether coins show their different networks', () => {
  assert.match(getCoin('USDT').network, /ERC-20/);
  assert.match(getCoin('USDTTRC').network, /TRC-20/);
});

// ---- events, actions, scopes, paths

test('the steps of an action have their own names, and begin at a rising progress', () => {
  for (const [command, steps] of Object.entries(ACTION_STEPS)) {
    const rules: readonly ActionStepRule[] = steps;
    assert.equal(rules[0]?.from, 0, command);
    assert.equal(new Set(rules.map(({ name }) => name)).size, rules.length, command);
    for (const [n, { from }] of rules.entries()) assert.ok(n === 0 || from > (rules[n - 1]?.from ?? 100));
    const covered = rules.flatMap(({ covers }) => covers);
    assert.equal(new Set(covered).size, covered.length, command);
  }
});

test('the events are those of the specification, and additional ones are marked', () => {
  const added = Object.entries(EVENTS).filter(([, event]) => 'additive' in event);
  assert.deepEqual(
    added.map(([name]) => name),
    [
      ...['server.resized', 'server.iso_inserted', 'server.iso_ejected', 'server.lost'],
      ...['snapshot.failed', 'backup.failed', 'volume.lost'],
      ...['topup.reversed', 'token.updated', 'action.success', 'action.error'],
      ...['alert.fired', 'alert.resolved'],
    ],
  );
  assert.deepEqual(
    Object.keys(EVENTS).filter((name) => !added.some(([other]) => other === name)),
    [
      ...['server.created', 'server.running', 'server.stopped', 'server.rebooted', 'server.rebuilt'],
      ...['server.suspended', 'server.destroyed', 'snapshot.ready', 'volume.attached', 'volume.detached'],
      ...['topup.pending', 'topup.confirmed', 'topup.expired', 'billing.charged', 'billing.low_balance'],
      ...['token.created', 'token.revoked', 'firewall.applied'],
    ],
  );
});

test('every audit action consists of a resource and a verb, and is unique', () => {
  for (const action of ACTIONS) assert.match(action, /^[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*$/);
  assert.equal(new Set(ACTIONS).size, ACTIONS.length);
});

test('each scope covers itself and every narrower one', () => {
  for (const [held, holder] of SCOPES.entries()) {
    for (const [needed, need] of SCOPES.entries()) {
      assert.equal(scopeCovers(holder, need), held >= needed, `${holder} for ${need}`);
    }
  }
  assert.deepEqual(['read', 'write', 'billing', 'admin', ''].map(isScope), [true, true, true, false, false]);
});

test('the paths of the panel are absolute and unique', () => {
  const paths = Object.values(PANEL_PATHS);
  for (const path of paths) assert.match(path, /^\/[a-z]*$/);
  assert.equal(new Set(paths).size, paths.length);
  assert.equal(topupPath('12.50'), '/topup?amount=12.50');
  assert.equal(serverPath(9007199254740991n), '/servers/9007199254740991');
});

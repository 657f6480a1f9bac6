import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findBlock, findMaintenance, requireAllowed, requireOpen } from '../../../src/domain/rules/rules.ts';
import { Failure } from '../../../src/kernel/fail.ts';
import type { PolicyRow, WindowRow } from '../../../src/store/service/rules.ts';

const NOON = new Date('2030-05-01T12:00:00Z');
const at = (minutes: number) => new Date(NOON.getTime() + minutes * 60_000);

function windows(...rows: Partial<WindowRow>[]) {
  const full = { id: 'a', operation: null, starts_at: NOON, ends_at: at(10), reason: null };
  return { windows: rows.map((row) => ({ ...full, ...row })), switches: [], recovering: false };
}

function policies(...rows: Partial<PolicyRow>[]) {
  const full = { id: 'a', operation: 'servers.create', country: null, region_id: null, created_at: NOON };
  return { policies: rows.map((row) => ({ ...full, order_text: 'Order 1', ...row })) };
}

function failureOf(work: () => void): Pick<Failure, 'code' | 'extras' | 'message'> | null {
  try {
    work();
    return null;
  } catch (error) {
    assert.ok(error instanceof Failure);
    const { code, extras, message } = error;
    return { code, extras, message };
  }
}

test('a maintenance window is open from its start to its end', () => {
  const open = (minutes: number) => findMaintenance(windows({}), 'plans.list', at(minutes)) !== null;
  assert.deepEqual([-1, 0, 9, 10].map(open), [false, true, true, false]);
});

test('a window over one operation does not affect others', () => {
  const rules = windows({ operation: 'servers.create', reason: 'storage' });
  assert.deepEqual(findMaintenance(rules, 'servers.create', NOON), { reason: 'storage', endsAt: at(10) });
  assert.equal(findMaintenance(rules, 'servers.list', NOON), null);
});

test('of several open windows, the last end is reported', () => {
  const rules = windows({ ends_at: at(5) }, { ends_at: at(30), reason: 'long' }, { ends_at: at(7) });
  assert.deepEqual(findMaintenance(rules, 'servers.get', NOON), { reason: 'long', endsAt: at(30) });
  assert.deepEqual(
    failureOf(() => requireOpen(rules, 'servers.get', at(1))),
    {
      code: 'maintenance',
      extras: { retry_after_s: 29 * 60 },
      message: 'Closed for maintenance until 2030-05-01T12:30:00Z (long). Try again then.',
    },
  );
  assert.equal(
    failureOf(() => requireOpen(rules, 'servers.get', at(30))),
    null,
  );
});

test('a switch that is off closes its operations with a reason and no end', () => {
  const off = { name: 'deploys', on_: false, reason: 'storage', changed_at: NOON } as const;
  const rules = { windows: [], switches: [off], recovering: false };
  assert.deepEqual(
    failureOf(() => requireOpen(rules, 'servers.create', NOON)),
    {
      code: 'maintenance',
      extras: { retry_after_s: 600 },
      message: 'This is temporarily unavailable (storage). Try again later.',
    },
  );
  requireOpen(rules, 'servers.list', NOON);
  requireOpen(rules, null, NOON);
  requireOpen({ windows: [], switches: [{ ...off, on_: true }], recovering: false }, 'servers.create', NOON);
  requireOpen(
    { windows: [], switches: [{ ...off, name: 'mail' }], recovering: false },
    'servers.create',
    NOON,
  );
});

test('a policy without country and region blocks its operation for everyone, and no other', () => {
  const rules = policies({});
  assert.deepEqual(findBlock(rules, { operation: 'servers.create', country: 'XX', region: null }), {
    order: 'Order 1',
  });
  assert.equal(findBlock(rules, { operation: 'servers.list', country: 'XX', region: null }), null);
});

test('a policy with country and region blocks only requests that match both', () => {
  const rules = policies({ country: 'DE', region_id: 'par' });
  const blocked = (country: string, region: string | null) =>
    findBlock(rules, { operation: 'servers.create', country, region }) !== null;
  assert.ok(blocked('DE', 'par'));
  assert.deepEqual([blocked('FR', 'par'), blocked('DE', 'zrh'), blocked('DE', null)], [false, false, false]);
});

test('a blocked request names the oldest matching order', () => {
  const rules = policies(
    { country: 'FR', order_text: 'Order 1' },
    { order_text: 'Order 2' },
    { order_text: 'Order 3' },
  );
  const requested = { operation: 'servers.create', country: 'DE', region: 'par' } as const;
  assert.deepEqual(
    failureOf(() => requireAllowed(rules, requested)),
    {
      code: 'jurisdictional_block',
      extras: {},
      message: 'Refused for legal reasons: Order 2',
    },
  );
});

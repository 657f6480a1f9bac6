/** The CI runners example: its plans and its measure of demand. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Server } from '@skerry/sdk';
import { Demand } from '../../examples/ci-runners/demand.ts';
import { type Fleet, type Limits, planSteps } from '../../examples/ci-runners/plan.ts';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.parse('2026-03-01T12:00:00Z');

function server(name: string, hoursLeft: number, more: Partial<Server> = {}): Server {
  const paid_until = new Date(NOW_MS + hoursLeft * HOUR_MS).toISOString();
  const fields = { name, paid_until, status: 'running', auto_renew: false, price_usd_cycle: 10, labels: {} };
  return { ...fields, suspended_reason: null, ...more } as Server;
}

const LIMITS: Limits = { fleet: 'ci', min: 0, max: 10, budgetUsd: 100, reserveUsd: 0, decideMs: 3 * HOUR_MS };

function planLines(servers: readonly Server[], wanted: number, more: Partial<Fleet & Limits> = {}): string[] {
  const fleet = { servers, nowMs: NOW_MS, balanceUsd: 1_000, priceUsd: 10, available: true, ...more };
  const steps = planSteps(fleet, { sustained: wanted, peak: wanted }, { ...LIMITS, ...more });
  return steps.map((step) => `${step.action} ${step.action === 'create' ? step.name : step.server.name}`);
}

describe('the plan of the CI runners example', () => {
  const young = [server('ci-1', 500), server('ci-3', 400)];

  it('buys missing runners under unused names', () => {
    assert.deepEqual(planLines(young, 4), ['create ci-2', 'create ci-4']);
    assert.deepEqual(planLines([], 0, { min: 1 }), ['create ci-1']);
    assert.deepEqual(planLines(young, 99, { max: 3 }), ['create ci-2']);
  });
  it('keeps runners that are paid for', () => {
    assert.deepEqual(planLines(young, 0), []);
    assert.deepEqual(planLines(young, 1, { budgetUsd: 0 }), []);
  });
  it('renews needed runners near the end of their cycle and retires the rest', () => {
    const due = [server('ci-1', 500), server('ci-2', 2), server('ci-3', 1)];
    assert.deepEqual(planLines(due, 2), ['retire ci-3', 'renew ci-2']);
    assert.deepEqual(planLines(due, 0), ['retire ci-2', 'retire ci-3']);
    assert.deepEqual(planLines(due, 3), ['renew ci-2', 'renew ci-3']);
  });
  it('prefers runners that it has already renewed', () => {
    const due = [server('ci-2', 2), server('ci-3', 1, { auto_renew: true })];
    assert.deepEqual(planLines(due, 1), ['retire ci-2']);
    assert.deepEqual(planLines(due.slice(1), 1), []);
    assert.deepEqual(planLines([server('ci-3', 700, { auto_renew: true })], 1), ['not renew ci-3']);
  });
  it('ignores retired and expired runners and destroys only the expired ones', () => {
    const retired = server('ci-1', 2, { labels: { retired: 'yes' } });
    const expired = server('ci-2', -1, { status: 'suspended', suspended_reason: 'not_renewed' });
    const frozen = server('ci-3', 100, { status: 'suspended', suspended_reason: 'operator' });
    assert.deepEqual(planLines([retired, expired, frozen], 1), ['destroy ci-2', 'create ci-4']);
    assert.deepEqual(planLines([server('ci-1', 9, { status: 'destroying' })], 0), []);
  });
  it('starts stopped runners', () => {
    assert.deepEqual(planLines([server('ci-1', 90, { status: 'stopped' })], 0), ['start ci-1']);
  });
  it('stays within the budget and the balance, less the reserve', () => {
    assert.deepEqual(planLines([], 5, { budgetUsd: 29.99 }), ['create ci-1', 'create ci-2']);
    assert.deepEqual(planLines([], 5, { balanceUsd: 10 }), ['create ci-1']);
    assert.deepEqual(planLines([], 5, { balanceUsd: 25, reserveUsd: 5.01 }), ['create ci-1']);
    // A retired runner is paid until its end and counts against the budget until then.
    const retired = server('ci-1', 2, { labels: { retired: 'yes' } });
    assert.deepEqual(planLines([retired], 5, { budgetUsd: 20 }), ['create ci-2']);
    // Pending renewals reserve their share of the balance.
    const due = [server('ci-1', 2), server('ci-2', 2, { auto_renew: true })];
    assert.deepEqual(planLines(due, 3, { balanceUsd: 10 }), ['retire ci-1']);
    assert.deepEqual(planLines(due, 3, { balanceUsd: 35 }), ['renew ci-1', 'create ci-3']);
  });
  it('counts existing runners at their own price, regardless of the current price', () => {
    const expensive = ['ci-1', 'ci-2', 'ci-3', 'ci-4', 'ci-5'].map((name) =>
      server(name, 2, { price_usd_cycle: 20 }),
    );
    const renewals = expensive.map(({ name }) => `renew ${name}`);
    assert.deepEqual(planLines(expensive, 10), renewals);
    assert.deepEqual(planLines(expensive, 10, { budgetUsd: 119.99 }), [...renewals, 'create ci-6']);
    assert.deepEqual(planLines(expensive, 10, { budgetUsd: 99.99 }), [
      'retire ci-5',
      ...renewals.slice(0, 4),
    ]);
    // The next pass makes the same decision.
    const [first, ...others] = expensive.map((runner) => ({ ...runner, auto_renew: true }));
    const retired = { ...first, auto_renew: false, labels: { retired: 'yes' } } as Server;
    assert.deepEqual(planLines([retired, ...others], 10, { budgetUsd: 99.99 }), []);
    const young = expensive.map((runner) => ({ ...runner, paid_until: server('', 500).paid_until }));
    assert.deepEqual(planLines(young, 10, { budgetUsd: 110 }), ['create ci-6']);
    assert.deepEqual(planLines(young, 10, { budgetUsd: 110, priceUsd: 10.01 }), []);
  });
  it('buys nothing while the plan is sold out', () => {
    assert.deepEqual(planLines([], 5, { available: false }), []);
  });
});

it('a short peak in demand keeps runners, and only sustained demand buys more', () => {
  const demand = new Demand(100);
  assert.deepEqual(demand.record(5, 0), { sustained: 0, peak: 5 });
  assert.deepEqual(demand.record(2, 60), { sustained: 0, peak: 5 });
  assert.deepEqual(demand.record(3, 100), { sustained: 2, peak: 5 });
  assert.deepEqual(demand.record(3, 161), { sustained: 3, peak: 3 });
  assert.deepEqual(demand.record(0, 170), { sustained: 0, peak: 3 });
  assert.deepEqual(new Demand(0).record(4, 7), { sustained: 4, peak: 4 });
});

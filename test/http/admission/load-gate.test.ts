import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LoadGate, type Ticket } from '../../../src/http/admission/load-gate.ts';
import { classOfRequest, isCounted, OVERLOAD, type RequestClass } from '../../../src/spec/overload.ts';

const LIMITS = { targetMs: 100, requestsMax: 4_000 };

/** A server with a queue, in virtual time. */
function simulate(capacityPerS: number, offeredPerS: number, seconds: number, kind: RequestClass = 'read') {
  let nowMs = 0;
  const gate = new LoadGate(LIMITS, { now: () => nowMs });
  const queue: { ticket: Ticket; sinceMs: number }[] = [];
  const latencies: number[] = [];
  let refused = 0;
  let nextArrivalMs = 0;
  let nextDoneMs = 0;
  while (nowMs < seconds * 1_000) {
    const isArrival = queue.length === 0 || nextArrivalMs <= nextDoneMs;
    nowMs = isArrival ? nextArrivalMs : nextDoneMs;
    if (isArrival) {
      nextArrivalMs += 1_000 / offeredPerS;
      if (queue.length === 0) nextDoneMs = nowMs + 1_000 / capacityPerS;
      if (gate.admits(kind)) queue.push({ ticket: gate.begin(kind), sinceMs: nowMs });
      else refused += 1;
    } else {
      const done = queue.shift() ?? assert.fail('nothing to do');
      done.ticket.complete();
      latencies.push(nowMs - done.sinceMs);
      nextDoneMs = nowMs + 1_000 / capacityPerS;
    }
  }
  latencies.sort((a, b) => a - b);
  return {
    refused,
    goodputPerS: latencies.length / seconds,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
  };
}

describe('the gate under load', () => {
  for (const capacity of [300, 1_000, 3_000]) {
    it(`at three times a capacity of ${capacity}/s, goodput stays and admitted requests are fast`, () => {
      const { goodputPerS, p99Ms, refused } = simulate(capacity, capacity * 3, 10);
      assert.ok(goodputPerS >= capacity * 0.95, `${goodputPerS}/s`);
      assert.ok(p99Ms < 500, `${p99Ms} ms`);
      assert.ok(refused > capacity * 10);
    });
  }

  it('below capacity, no request is refused', () => {
    assert.equal(simulate(1_000, 950, 10).refused, 0);
  });

  it('programs that send many requests at once and wait for all are not refused', () => {
    let nowMs = 0;
    const gate = new LoadGate(LIMITS, { now: () => nowMs });
    for (let round = 0; round < 5; round++) {
      const tickets: Ticket[] = [];
      for (let n = 0; n < 1_000; n++) {
        nowMs += 0.9;
        assert.ok(gate.admits('write'), `round ${round}, request ${n}`);
        tickets.push(gate.begin('write'));
      }
      for (const ticket of tickets) {
        nowMs += 3;
        ticket.complete();
      }
    }
  });

  it('signing in and payments are admitted while others are refused, up to a limit of their own', () => {
    let nowMs = 0;
    const gate = new LoadGate(LIMITS, { now: () => nowMs });
    for (; gate.admits('read'); nowMs += 1) gate.begin('read');
    assert.equal(gate.admits('read'), false);
    let first = 0;
    for (; gate.admits('first'); nowMs += 1) {
      gate.begin('first');
      first += 1;
    }
    assert.ok(first >= OVERLOAD.admittedMin && first < 2_000, `${first}`);
    assert.ok(gate.admits('always'));
  });

  it('requests that wait for something else do not count, and a late event loop lowers the limit', () => {
    let nowMs = 0;
    let lagMs = 0;
    const gate = new LoadGate(LIMITS, { now: () => nowMs, lagMs: () => lagMs });
    const tickets = Array.from({ length: OVERLOAD.admittedMin }, () => gate.begin('read'));
    for (const ticket of tickets) ticket.setWaiting(true);
    assert.equal(gate.inProgress, 0);
    for (const ticket of tickets.slice(0, OVERLOAD.admittedMinWhenLate)) ticket.setWaiting(false);
    const isAdmittedAfterBurst = () => {
      gate.admits('read');
      nowMs += OVERLOAD.burstMs.read;
      return gate.admits('read');
    };
    assert.ok(isAdmittedAfterBurst());
    lagMs = OVERLOAD.lateMs + 1;
    assert.equal(isAdmittedAfterBurst(), false);
    for (const ticket of tickets) ticket.complete();
    assert.equal(gate.inProgress, 0);
    assert.ok(gate.admits('read'));
  });

  it('more requests than the maximum are refused at once, and with a target of 0 none is', () => {
    const gate = new LoadGate({ targetMs: 100, requestsMax: 2 });
    gate.begin('write');
    assert.ok(gate.admits('write'));
    gate.begin('write');
    assert.equal(gate.admits('write'), false);
    const open = new LoadGate({ targetMs: 0, requestsMax: 2 });
    for (let n = 0; n < 10; n++) open.begin('read');
    assert.ok(open.admits('read'));
  });
});

it('each path has its class', () => {
  for (const [method, path, kind] of [
    ['GET', '/readyz', 'always'],
    ['POST', '/sandbox/clock', 'always'],
    ['POST', '/auth-api.php', 'first'],
    ['GET', '/topup-status.php?ref=x', 'first'],
    ['GET', '/v1/billing/topup/top_x', 'first'],
    ['POST', '/signin', 'first'],
    ['GET', '/v1/servers', 'read'],
    ['POST', '/v1/servers', 'write'],
  ] as const) {
    assert.equal(classOfRequest(method, path), kind, path);
  }
  assert.deepEqual(['/v1/events?after=1', '/v1/images', '/v1/servers'].map(isCounted), [false, false, true]);
});

import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { EVENTS } from '../../src/spec/events.ts';
import {
  can,
  DELIVERY_STATUSES,
  DELIVERY_TRANSITIONS,
  explainDenial,
  findTransition,
  MACHINE_STATES,
  MACHINE_TRANSITIONS,
  mustWaitForOperation,
  SERVER_ACTIONS,
  SERVER_STATUSES,
  SERVER_TRANSITIONS,
  SESSION_TOPUP_STATUSES,
  type ServerAction,
  SNAPSHOT_STATUSES,
  SNAPSHOT_TRANSITIONS,
  SUSPENDED_REASONS,
  sessionTopupStatus,
  TOPUP_STATUSES,
  TOPUP_TRANSITIONS,
  type Transition,
  VOLUME_STATES,
  VOLUME_TRANSITIONS,
} from '../../src/spec/states.ts';

interface Table {
  readonly states: readonly string[];
  /** States in which a thing may stay for ever. */
  readonly final: readonly string[];
  readonly transitions: readonly Transition<string>[];
}

const TABLES: Record<string, Table> = {
  server: { states: SERVER_STATUSES, final: [], transitions: SERVER_TRANSITIONS },
  topup: { states: TOPUP_STATUSES, final: [], transitions: TOPUP_TRANSITIONS },
  snapshot: { states: SNAPSHOT_STATUSES, final: [], transitions: SNAPSHOT_TRANSITIONS },
  volume: { states: VOLUME_STATES, final: [], transitions: VOLUME_TRANSITIONS },
  machine: { states: MACHINE_STATES, final: [], transitions: MACHINE_TRANSITIONS },
  delivery: {
    states: DELIVERY_STATUSES,
    final: ['delivered', 'failed', 'cancelled'],
    transitions: DELIVERY_TRANSITIONS,
  },
};

for (const [name, { states, final, transitions }] of Object.entries(TABLES)) {
  describe(`the states of a ${name}`, () => {
    it('can each be reached from nothing', () => {
      const reached = new Set<string | null>([null]);
      for (let before = 0; before < reached.size; ) {
        before = reached.size;
        for (const { from, to } of transitions) if (reached.has(from)) reached.add(to);
      }
      assert.deepEqual(
        states.filter((state) => !reached.has(state)),
        [],
      );
    });

    it('each have a way on, unless they are final', () => {
      const left = new Set(transitions.filter(({ from, to }) => from !== to).map(({ from }) => from));
      for (const state of states) assert.equal(left.has(state), !final.includes(state), state);
    });

    it('are the only ones its transitions name', () => {
      for (const { from, to } of transitions) {
        for (const state of [from, to]) assert.ok(state === null || states.includes(state), `${state}`);
        assert.ok(from !== null || to !== null);
      }
    });

    it('leave each by one way for each trigger', () => {
      const ways = transitions.map(({ from, trigger }) => `${from} ${trigger}`);
      assert.equal(new Set(ways).size, ways.length);
    });

    it('tell only of events that exist, each with this kind of object', () => {
      for (const { event } of transitions) {
        if (event === undefined) continue;
        assert.ok(Object.hasOwn(EVENTS, event), event);
        assert.equal(EVENTS[event].key, event.split('.')[0]);
      }
    });
  });
}

describe('the actions on a server', () => {
  const statuses = (trigger: string) =>
    SERVER_TRANSITIONS.filter((row) => row.trigger === trigger).map(({ from }) => from);

  it('are allowed from where their transition begins', () => {
    for (const action of ['reboot', 'rescue', 'stop', 'rebuild', 'destroy'] as const) {
      assert.deepEqual([...SERVER_ACTIONS[action]].sort(), statuses(action).sort(), action);
    }
    assert.deepEqual(statuses('start'), ['stopped']);
  });

  it('are, from each status, those that the decisions name', () => {
    const none = { status: 'running', suspendedReason: null } as const;
    const allowed = (status: (typeof SERVER_STATUSES)[number]) =>
      (Object.keys(SERVER_ACTIONS) as ServerAction[]).filter((action) => can({ ...none, status }, action));
    const disk = ['rebuild', 'restore', 'snapshot', 'attach', 'detach'];
    assert.deepEqual(allowed('provisioning'), ['detach', 'update', 'destroy']);
    assert.deepEqual(allowed('installing'), ['detach', 'update', 'destroy']);
    assert.deepEqual(allowed('running'), [
      'reboot',
      'rescue',
      'stop',
      'console',
      ...disk,
      'update',
      'destroy',
    ]);
    assert.deepEqual(allowed('stopped'), ['start', ...disk, 'update', 'destroy']);
    assert.deepEqual(allowed('destroying'), ['detach', 'destroy']);
  });

  it('wait for an operation under way, unless they leave the machine alone or end it', () => {
    const beside = (Object.keys(SERVER_ACTIONS) as ServerAction[]).filter(
      (action) => !mustWaitForOperation(action),
    );
    assert.deepEqual(beside, ['console', 'detach', 'update', 'destroy']);
  });

  it('are, for a suspended server, few, and depend on why it is', () => {
    const allowed = Object.fromEntries(
      SUSPENDED_REASONS.map((suspendedReason) => [
        suspendedReason,
        (Object.keys(SERVER_ACTIONS) as ServerAction[]).filter((action) =>
          can({ status: 'suspended', suspendedReason }, action),
        ),
      ]),
    );
    assert.deepEqual(allowed, {
      // It resumes by itself as soon as the balance suffices.
      balance: ['detach', 'update', 'destroy'],
      not_renewed: ['start', 'detach', 'update', 'destroy'],
      operator: ['destroy'],
    });
  });

  it('are refused with what can be done, and never with what the server is already', () => {
    for (const status of SERVER_STATUSES) {
      for (const suspendedReason of status === 'suspended' ? SUSPENDED_REASONS : [null]) {
        for (const action of Object.keys(SERVER_ACTIONS) as ServerAction[]) {
          if (can({ status, suspendedReason }, action)) continue;
          const sentence = explainDenial({ status, suspendedReason }, action);
          const possible = sentence.split('is possible while it is')[1] ?? '';
          assert.ok(!possible.includes(status), `${action}: ${sentence}`);
          assert.ok(!possible.includes('suspended'), `${action}: ${sentence}`);
        }
      }
    }
    const suspended = { status: 'suspended' } as const;
    assert.match(
      explainDenial({ ...suspended, suspendedReason: 'balance' }, 'start'),
      /Top up; it resumes by itself/,
    );
    assert.match(
      explainDenial({ ...suspended, suspendedReason: 'not_renewed' }, 'reboot'),
      /Start it to pay/,
    );
    assert.match(
      explainDenial({ ...suspended, suspendedReason: 'operator' }, 'update'),
      /Contact the operator/,
    );
    assert.equal(
      explainDenial({ status: 'stopped', suspendedReason: null }, 'reboot'),
      'The server is stopped; reboot is possible while it is running.',
    );
  });
});

test('the events of servers are those of the specification, at its moments', () => {
  const told = (trigger: string, from: string | null) =>
    findTransition<Transition<string>, string | null, string>(SERVER_TRANSITIONS, from, trigger).event;
  assert.equal(told('create', null), 'server.created');
  assert.equal(told('install_completes', 'installing'), 'server.running');
  assert.equal(told('rebuild_completes', 'installing'), 'server.rebuilt');
  assert.equal(told('reboot', 'running'), 'server.rebooted');
  assert.equal(told('stop', 'running'), 'server.stopped');
  assert.equal(told('start', 'stopped'), undefined);
  assert.equal(told('suspend', 'running'), 'server.suspended');
  assert.equal(told('resume_running', 'suspended'), 'server.running');
  assert.equal(told('destroyed', 'destroying'), 'server.destroyed');
});

test('a move that no table has is a fault of ours', () => {
  const table: readonly Transition<string>[] = SERVER_TRANSITIONS;
  assert.throws(() => findTransition(table, 'destroying', 'start'), /no transition from destroying by start/);
  assert.throws(() => findTransition(table, null, 'stop'), /no transition from nothing by stop/);
});

test('the session surface has a word for every invoice', () => {
  const words = TOPUP_STATUSES.flatMap((status) =>
    [false, true].map((cancelled) => sessionTopupStatus({ status, cancelled, withheld: false })),
  );
  assert.deepEqual(words, [
    ...['waiting', 'waiting', 'confirming', 'confirming'],
    ...['confirmed', 'confirmed', 'expired', 'cancelled'],
  ]);
  for (const word of words) assert.ok(SESSION_TOPUP_STATUSES.includes(word));
});

test('a held payment is confirmed in accounting, whatever else is true of it', () => {
  for (const status of TOPUP_STATUSES) {
    for (const cancelled of [false, true]) {
      assert.equal(sessionTopupStatus({ status, cancelled, withheld: true }), 'confirmed');
    }
  }
});

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
  /** States that a resource may keep permanently. */
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
    it(`every ${name} state can be reached`, () => {
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

    it(`every ${name} state can be left, unless it is final`, () => {
      const left = new Set(transitions.filter(({ from, to }) => from !== to).map(({ from }) => from));
      for (const state of states) assert.equal(left.has(state), !final.includes(state), state);
    });

    it(`the ${name} transitions name no other states`, () => {
      for (const { from, to } of transitions) {
        for (const state of [from, to]) assert.ok(state === null || states.includes(state), `${state}`);
        assert.ok(from !== null || to !== null);
      }
    });

    it(`each trigger leads from a ${name} state by one transition`, () => {
      const ways = transitions.map(({ from, trigger }) => `${from} ${trigger}`);
      assert.equal(new Set(ways).size, ways.length);
    });

    it(`the ${name} transitions name only events that exist and contain a ${name}`, () => {
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

  it('every server action is allowed from where its transition begins', () => {
    for (const action of ['reboot', 'rescue', 'stop', 'rebuild', 'destroy'] as const) {
      assert.deepEqual([...SERVER_ACTIONS[action]].sort(), statuses(action).sort(), action);
    }
    assert.deepEqual(statuses('start'), ['stopped']);
  });

  it('each server status allows the actions that the decisions name', () => {
    const none = { status: 'running', suspendedReason: null } as const;
    const allowed = (status: (typeof SERVER_STATUSES)[number]) =>
      (Object.keys(SERVER_ACTIONS) as ServerAction[]).filter((action) => can({ ...none, status }, action));
    const isos = ['insert_iso', 'eject_iso', 'set_boot'];
    const disk = ['rebuild', 'restore', 'resize', ...isos, 'snapshot', 'attach', 'detach'];
    assert.deepEqual(allowed('provisioning'), ['detach', 'update', 'protect', 'destroy']);
    assert.deepEqual(allowed('installing'), ['detach', 'update', 'protect', 'destroy']);
    assert.deepEqual(allowed('running'), [
      'reboot',
      'rescue',
      'stop',
      'console',
      ...disk,
      'update',
      'protect',
      'destroy',
    ]);
    assert.deepEqual(allowed('stopped'), ['start', ...disk, 'update', 'protect', 'destroy']);
    assert.deepEqual(allowed('destroying'), ['detach', 'destroy']);
  });

  it('only actions that leave the machine alone or delete it run next to an operation in progress', () => {
    const immediate = (Object.keys(SERVER_ACTIONS) as ServerAction[]).filter(
      (action) => !mustWaitForOperation(action),
    );
    assert.deepEqual(immediate, ['console', 'detach', 'update', 'protect', 'destroy']);
  });

  it('a suspended server allows few actions, depending on the reason', () => {
    const allowed = Object.fromEntries(
      SUSPENDED_REASONS.map((suspendedReason) => [
        suspendedReason,
        (Object.keys(SERVER_ACTIONS) as ServerAction[]).filter((action) =>
          can({ status: 'suspended', suspendedReason }, action),
        ),
      ]),
    );
    assert.deepEqual(allowed, {
      // It resumes automatically once the balance covers the next cycle.
      balance: ['detach', 'update', 'protect', 'destroy'],
      not_renewed: ['start', 'detach', 'update', 'protect', 'destroy'],
      operator: ['protect', 'destroy'],
      // It resumes automatically once the balance is zero or more.
      negative_balance: ['detach', 'update', 'protect', 'destroy'],
    });
  });

  it('a denial says what to do, and never names the current status as the required one', () => {
    for (const status of SERVER_STATUSES) {
      for (const suspendedReason of status === 'suspended' ? SUSPENDED_REASONS : [null]) {
        for (const action of Object.keys(SERVER_ACTIONS) as ServerAction[]) {
          if (can({ status, suspendedReason }, action)) continue;
          const sentence = explainDenial({ status, suspendedReason }, action);
          const required = sentence.split('It must be')[1]?.split('before')[0] ?? '';
          assert.ok(!required.includes(status), `${action}: ${sentence}`);
          assert.ok(!required.includes('suspended'), `${action}: ${sentence}`);
        }
      }
    }
    const suspended = { status: 'suspended' } as const;
    assert.match(
      explainDenial({ ...suspended, suspendedReason: 'balance' }, 'start'),
      /Top up your balance: the server resumes automatically/,
    );
    assert.match(
      explainDenial({ ...suspended, suspendedReason: 'not_renewed' }, 'reboot'),
      /Start it to pay/,
    );
    assert.match(explainDenial({ ...suspended, suspendedReason: 'operator' }, 'update'), /Contact us/);
    assert.equal(
      explainDenial({ status: 'stopped', suspendedReason: null }, 'reboot'),
      'This server is stopped. It must be running before you can restart it.',
    );
  });
});

test('the server transitions have the events of the specification', () => {
  const eventOf = (trigger: string, from: string | null) =>
    findTransition<Transition<string>, string | null, string>(SERVER_TRANSITIONS, from, trigger).event;
  assert.equal(eventOf('create', null), 'server.created');
  assert.equal(eventOf('install_completes', 'installing'), 'server.running');
  assert.equal(eventOf('rebuild_completes', 'installing'), 'server.rebuilt');
  assert.equal(eventOf('reboot', 'running'), 'server.rebooted');
  assert.equal(eventOf('stop', 'running'), 'server.stopped');
  assert.equal(eventOf('start', 'stopped'), undefined);
  assert.equal(eventOf('suspend', 'running'), 'server.suspended');
  assert.equal(eventOf('resume_running', 'suspended'), 'server.running');
  assert.equal(eventOf('destroyed', 'destroying'), 'server.destroyed');
});

test('a transition that no table contains is a bug on our side', () => {
  const table: readonly Transition<string>[] = SERVER_TRANSITIONS;
  assert.throws(() => findTransition(table, 'destroying', 'start'), /no transition from destroying by start/);
  assert.throws(() => findTransition(table, null, 'stop'), /no transition from nothing by stop/);
});

test('the session surface has a status for every invoice', () => {
  const statuses = TOPUP_STATUSES.flatMap((status) =>
    [false, true].map((cancelled) => sessionTopupStatus({ status, cancelled, withheld: false })),
  );
  assert.deepEqual(statuses, [
    ...['waiting', 'waiting', 'confirming', 'confirming'],
    ...['confirmed', 'confirmed', 'expired', 'cancelled'],
  ]);
  for (const status of statuses) assert.ok(SESSION_TOPUP_STATUSES.includes(status));
});

test('a withheld payment is confirmed in accounting in every status', () => {
  for (const status of TOPUP_STATUSES) {
    for (const cancelled of [false, true]) {
      assert.equal(sessionTopupStatus({ status, cancelled, withheld: true }), 'confirmed');
    }
  }
});

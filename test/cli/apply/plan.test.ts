/** Plans of `skerry apply` on a model of an account: every plan converges, even after interrupted runs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Actual, ActualServer } from '../../../packages/cli/src/apply/actual.ts';
import type { Desired } from '../../../packages/cli/src/apply/desired.ts';
import { compare } from '../../../packages/cli/src/apply/plan/diff.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';
import { desiredFile, EMPTY_ACCOUNT } from './support/arbitraries.ts';
import { Model, stepsOf } from './support/model.ts';

const LIMIT = 30;

/** Runs a plan and fails unless the next comparison finds nothing to do. */
function assertConverges(desired: Desired, model: Model): void {
  const { plan, faults } = compare(desired, model.actual);
  assert.deepEqual(faults, []);
  model.run(plan);
  const after = compare(desired, model.actual);
  assert.deepEqual([after.faults, after.plan.items], [[], []]);
  const ours = model.actual.servers.filter(({ labels }) => labels['skerry-project'] === 'shop');
  const wanted = (desired.servers ?? []).filter((one) => !one.absent).map(({ name }) => name);
  assert.deepEqual(ours.map(({ name }) => name).sort(), wanted.sort());
}

/** Whether the change is allowed: shrinking a volume, for example, is not. */
function isPossible(desired: Desired, model: Model): boolean {
  return compare(desired, model.actual).faults.length === 0;
}

test('a completed plan leaves nothing to do, for any previous state', () => {
  fc.assert(
    fc.property(fc.array(desiredFile, { minLength: 1, maxLength: 4 }), (files) => {
      const model = new Model(EMPTY_ACCOUNT);
      for (const desired of files) if (isPossible(desired, model)) assertConverges(desired, model);
    }),
    { numRuns: PROPERTY_RUNS * 10 },
  );
});

test('a run after interrupted runs reaches the state in the file', () => {
  const cuts = fc.array(fc.nat(LIMIT), { maxLength: 3 });
  const later = fc.array(fc.tuple(desiredFile, cuts), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(desiredFile, later, (first, changes) => {
      const model = new Model(EMPTY_ACCOUNT);
      assertConverges(first, model);
      for (const [desired, at] of changes) {
        if (!isPossible(desired, model)) continue;
        for (const count of at) {
          const { plan, faults } = compare(desired, model.actual);
          assert.deepEqual(faults, []);
          model.run(plan, count);
        }
        assertConverges(desired, model);
      }
    }),
    { numRuns: PROPERTY_RUNS * 10 },
  );
});

test('interrupted runs never delete a server before its replacement has run', () => {
  // A rebuilt server runs again; a new server may never start.
  const namesOf = ({ actual }: Model) =>
    new Set(actual.servers.filter(({ status }) => status !== 'provisioning').map(({ name }) => name));
  fc.assert(
    fc.property(desiredFile, desiredFile, fc.nat(LIMIT), fc.nat(LIMIT), (first, second, count, more) => {
      const model = new Model(EMPTY_ACCOUNT);
      assertConverges(first, model);
      if (!isPossible(second, model)) return;
      const before = namesOf(model);
      for (const steps of [count, more]) model.run(compare(second, model.actual).plan, steps);
      const there = namesOf(model);
      for (const { name } of (second.servers ?? []).filter((one) => !one.absent)) {
        if (before.has(name)) assert.ok(there.has(name), name);
      }
    }),
    { numRuns: PROPERTY_RUNS * 5 },
  );
});

function desiredOf(server: object, more: Partial<Desired> = {}): Desired {
  const base = {
    name: 'web-1',
    place: 'servers[0]',
    absent: false,
    plan: 's1',
    region: 'par',
    image: 'debian',
  };
  return {
    project: 'shop',
    sshKeys: [],
    volumes: [],
    groups: [],
    alerts: [],
    servers: [{ ...base, sshKeys: ['laptop'], rdns: {}, ...server }],
    ...more,
  } as unknown as Desired;
}

const LAPTOP = { id: 'k_1', name: 'laptop', fingerprint: 'SHA256:x' };
const WEB_1: ActualServer = {
  id: 'srv_1',
  name: 'web-1',
  status: 'running',
  suspended_reason: null,
  plan: 's1',
  region: 'par',
  image: 'img_2',
  iso: null,
  boot: 'disk',
  disk_gb: 10,
  ipv4: null,
  ipv6: null,
  ssh_keys: ['k_1'],
  tags: [],
  labels: { 'skerry-project': 'shop', team: 'blue' },
  billing_months: 1,
  auto_renew: true,
  protection: { delete: false, rebuild: false },
  price_usd_cycle: 5,
};
const account = (...servers: readonly ActualServer[]): Actual => {
  return { ...EMPTY_ACCOUNT, keys: [LAPTOP], servers };
};

function changesOf(desired: Desired, actual: Actual): string[] {
  const { plan, faults } = compare(desired, actual);
  assert.deepEqual(faults, []);
  return plan.items.map(({ changeType, kind, name }) => `${changeType} ${kind} ${name}`);
}

test('a field that the file omits is left unchanged', () => {
  assert.deepEqual(changesOf(desiredOf({}), account({ ...WEB_1, tags: ['x'], auto_renew: false })), []);
  assert.deepEqual(changesOf(desiredOf({}, { servers: undefined }), account(WEB_1)), []);
});

test('a family matches each of its versions; a version or an ID matches only itself', () => {
  assert.deepEqual(changesOf(desiredOf({ image: 'debian' }), account(WEB_1)), []);
  assert.deepEqual(changesOf(desiredOf({ image: 'debian-12' }), account(WEB_1)), []);
  assert.deepEqual(changesOf(desiredOf({ image: 'debian-13' }), account(WEB_1)), ['rebuild server web-1']);
  assert.deepEqual(changesOf(desiredOf({ image: 'img_3' }), account(WEB_1)), ['rebuild server web-1']);
});

test('an image that is no longer offered does not cause a rebuild', () => {
  const { plan } = compare(desiredOf({ image: 'debian-12' }), account({ ...WEB_1, image: 'img_gone' }));
  assert.deepEqual(plan.items, []);
  assert.match(plan.notes.join(), /no longer offered/);
});

test('labels in the file replace all others except our own', () => {
  const { plan } = compare(desiredOf({ labels: { env: 'prod' } }), account(WEB_1));
  assert.deepEqual(plan.items[0]?.actions, [
    { do: 'update_server', id: 'srv_1', patch: { labels: { env: 'prod', 'skerry-project': 'shop' } } },
  ]);
});

test('a server of that name outside of the project is an error, one of another project is not', () => {
  const outside = compare(desiredOf({}), account({ ...WEB_1, labels: {} }));
  assert.match(outside.faults[0]?.message ?? '', /--add-label skerry-project=shop/);
  assert.deepEqual(outside.plan.items, []);
  assert.deepEqual(changesOf(desiredOf({}), account({ ...WEB_1, labels: { 'skerry-project': 'other' } })), [
    'create server web-1',
  ]);
});

test('two servers of one name in the project are an error', () => {
  const { faults } = compare(desiredOf({}), account(WEB_1, { ...WEB_1, id: 'srv_2' }));
  assert.match(faults[0]?.message ?? '', /more than one server "web-1"/);
});

test('other SSH keys and another billing cycle are noted and change nothing', () => {
  const actual = account({ ...WEB_1, ssh_keys: ['k_2'], billing_months: 12 });
  const { plan } = compare(desiredOf({ billingMonths: 1 }), actual);
  assert.deepEqual([plan.items.length, plan.notes.length], [0, 2]);
});

test('a volume never shrinks, moves to another region, or leaves a server outside of the project', () => {
  const volume = {
    id: 'vol_1',
    name: 'data',
    size_gb: 50,
    region: 'par',
    encrypted: false,
    filesystem: null,
    protection: { delete: false },
  };
  const wanted = {
    name: 'data',
    place: 'volumes[0]',
    absent: false,
    region: 'zrh',
    sizeGb: 40,
    server: null,
  };
  const desired = desiredOf({}, { volumes: [wanted] } as unknown as Partial<Desired>);
  const other = { ...WEB_1, id: 'srv_2', name: 'other', labels: {} };
  const actual = { ...account(WEB_1, other), volumes: [{ ...volume, attached_to: 'srv_2' }] };
  const messages = compare(desired, actual)
    .faults.map(({ message }) => message)
    .join('\n');
  assert.match(messages, /outside of the project/);
  assert.match(messages, /cannot move to zrh/);
  assert.match(messages, /cannot shrink/);
});

test('deletions come last in a plan', () => {
  const gone = { ...WEB_1, id: 'srv_2', name: 'old' };
  const { plan } = compare(desiredOf({ plan: 's2' }), account(WEB_1, gone));
  assert.deepEqual(
    stepsOf(plan).map(({ act }) => act.do),
    ['mark_replaced', 'create_server', 'wait_server', 'destroy_server', 'destroy_server'],
  );
});

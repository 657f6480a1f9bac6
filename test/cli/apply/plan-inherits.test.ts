/**
 * Replacements in `skerry apply`: inherited settings, waits, and problems that are reported before any
 * change.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Actual, ActualServer } from '../../../packages/cli/src/apply/actual.ts';
import type { Desired } from '../../../packages/cli/src/apply/desired.ts';
import { readFiles, type Source } from '../../../packages/cli/src/apply/file/read.ts';
import { compare } from '../../../packages/cli/src/apply/plan/diff.ts';
import { EMPTY_ACCOUNT } from './support/arbitraries.ts';
import { Model, stepsOf } from './support/model.ts';

const HOST = 'a.example.org';
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
  ipv4: { address: '192.0.2.1', gateway: '192.0.2.254', rdns: HOST },
  ipv6: null,
  ssh_keys: ['k_1'],
  tags: ['x'],
  labels: { 'skerry-project': 'shop', 'skerry-user-data': '111111111111', env: 'prod' },
  billing_months: 1,
  auto_renew: false,
  protection: { delete: false, rebuild: false },
  price_usd_cycle: 5,
};
const SSH = {
  id: 'fwr_1',
  direction: 'in',
  proto: 'tcp',
  port: '22',
  source: '0.0.0.0/0',
  action: 'accept',
  note: null,
} as const;
const GROUP: Actual['groups'][number] = {
  id: 'fwg_1',
  name: 'web',
  applied_to: ['srv_1'],
  rules: [SSH],
  default_action: 'drop',
};

function account(more: Partial<Actual>): Actual {
  return { ...EMPTY_ACCOUNT, keys: [{ id: 'k_1', name: 'laptop', fingerprint: 'SHA256:x' }], ...more };
}
function read(text: string): ReturnType<typeof readFiles> {
  const source: Source = { name: 'f', content: text, readRelative: () => ({ fault: 'does not exist' }) };
  return readFiles([source]);
}
function fileOf(text: string): Desired {
  const { desired, faults } = read(`project: shop\n${text}`);
  assert.deepEqual(faults, []);
  return desired ?? assert.fail();
}
const server = (plan: string, more = '', name = 'web-1') =>
  `  - { name: ${name}, plan: ${plan}, region: par, image: debian-12, ssh_keys: [laptop]${more} }\n`;
const S2 = `servers:\n${server('s2')}`;

function formatReasons(desired: Desired, actual: Actual): string {
  const { plan, faults } = compare(desired, actual);
  assert.deepEqual(faults, []);
  return plan.items
    .map(({ changeType, name, reasons }) => [changeType, name, ...reasons].join('\n'))
    .join('\n');
}

for (const [text, where] of [
  [S2, 'that the file omits'],
  [`${S2}firewall_groups: [{ name: web, default_action: drop }]\n`, 'whose servers the file omits'],
] as const) {
  test(`a replacement server inherits omitted settings and joins a firewall group ${where}`, () => {
    const desired = fileOf(text);
    const other = { ...WEB_1, id: 'srv_9', name: 'other', labels: {} };
    const groups = [{ ...GROUP, applied_to: ['srv_1', 'srv_9'] }];
    const start = account({ servers: [WEB_1, other], groups });
    assert.match(formatReasons(desired, start), /carried over: tags, labels, auto_renew: false, rdns ipv4/);
    assert.match(formatReasons(desired, start), /the user data .*111111111111.* is not carried over/);
    for (let count = 0; count < 12; count += 1) {
      const model = new Model(start);
      model.run(compare(desired, model.actual).plan, count);
      model.run(compare(desired, model.actual).plan);
      assert.deepEqual(compare(desired, model.actual).plan.items, []);
      const { servers, groups: after } = model.actual;
      const made = servers.find(({ name }) => name === 'web-1') ?? assert.fail();
      assert.notEqual(made.id, 'srv_1');
      assert.deepEqual(
        [made.tags, made.auto_renew, made.ipv4?.rdns],
        [['x'], false, HOST],
        `interrupted at ${count}`,
      );
      assert.deepEqual(made.labels, { 'skerry-project': 'shop', env: 'prod' });
      assert.deepEqual(
        [...(after[0]?.applied_to ?? [])].sort(),
        [made.id, 'srv_9'].sort(),
        `interrupted at ${count}`,
      );
    }
  });
}

test('a plan waits for a server that is still being installed', () => {
  const actual = account({ servers: [{ ...WEB_1, status: 'installing' }] });
  const { plan } = compare(fileOf(`servers:\n${server('s1')}`), actual);
  assert.deepEqual(
    plan.items.map(({ changeType, actions }) => [changeType, actions]),
    [['wait', [{ do: 'wait_server', server: 'web-1' }]]],
  );
});

test('a reverted file keeps the original server and deletes its replacement', () => {
  const old = { ...WEB_1, labels: { ...WEB_1.labels, 'skerry-replaced': '1' } };
  const actual = account({ servers: [old, { ...WEB_1, id: 'srv_2', plan: 's2' }] });
  const { plan } = compare(fileOf(`servers:\n${server('s1')}`), actual);
  assert.deepEqual(
    plan.items.map(({ changeType, id }) => [changeType, id]),
    [['destroy', 'srv_2']],
  );
});

test('invalid ports, CIDRs, and counts are reported as problems of the file', () => {
  const rule = (port: string, source: string) =>
    `      - { direction: in, proto: tcp, port: "${port}", source: "${source}", action: accept }\n`;
  const bad = ['1.2.3.4/33', '999.0.0.0/8', '10.0.0.0/08', '203.0.113.5/24', '2001:db8::1/64', '::/129'];
  const good = ['0.0.0.0/0', '203.0.113.128/25', '2001:DB8:0::/32', '::/0', '::1/128'];
  const rules = [
    ...['99999', '90-80', '80,65536'].map((port) => rule(port, '::/0')),
    ...bad.map((source) => rule('80', source)),
    ...good.map((source) => rule('65535', source)),
    rule('1-65535', '::/0'),
  ];
  const group = 'firewall_groups:\n  - name: g\n    default_action: drop\n    rules:\n';
  const { faults } = read(`project: shop\n${group}${rules.join('')}`);
  const fields = faults.map(({ place }) => place.replace(/^.*rules/, 'rules'));
  const expected = [0, 1, 2].map((at) => `rules[${at}].port`);
  assert.deepEqual(fields.sort(), [...expected, ...bad.map((_, at) => `rules[${at + 3}].source`)].sort());
  assert.match(faults.map(({ message }) => message).join('\n'), /use 203\.0\.113\.0\/24/);
  const many = read(`project: shop\n${group}${rule('80', '::/0').repeat(101)}`);
  assert.match(many.faults[0]?.message ?? '', /101 items; at most 100/);
  const source = read(`project: shop\n${group}${rule('80', '2001:DB8:0::/32')}`).desired?.groups[0];
  assert.equal(source && !source.absent && source.rules?.[0]?.source, '2001:db8::/32');
});

test('an alias without an anchor is reported with its line', () => {
  assert.equal(read('project: shop\nservers:\n  - *nothing\n').faults[0]?.place, 'f:3');
});

test('a plan names outside servers of a group, removed members, and volumes without a project', () => {
  const other = { ...WEB_1, id: 'srv_9', name: 'other', labels: { 'skerry-project': 'else' } };
  const groups = [{ ...GROUP, applied_to: ['srv_1', 'srv_9'] }];
  const data = { id: 'vol_1', name: 'data', size_gb: 50, region: 'par', attached_to: null };
  const volumes = [{ ...data, encrypted: false, filesystem: null, protection: { delete: false } }];
  const text =
    'firewall_groups: [{ name: web, default_action: accept, servers: [] }]\n' +
    'volumes: [{ name: data, absent: true }]\n';
  const shown = formatReasons(fileOf(text), account({ servers: [WEB_1, other], groups, volumes }));
  assert.match(shown, /also affects servers outside of the project: other/);
  assert.match(shown, /applied to: web-1 → none/);
  assert.match(shown, /50 GiB in par, not attached: volumes have no project/);
});

const DATA = {
  id: 'vol_1',
  name: 'data',
  size_gb: 50,
  region: 'par',
  encrypted: false,
  filesystem: null,
  protection: { delete: false },
};
const ATTACHED = [{ ...DATA, attached_to: 'srv_1' }];
const volumeAt = (holder: string) =>
  `volumes: [{ name: data, region: par, size_gb: 50, server: ${holder} }]\n`;

test('a server is stopped before its volumes are detached only if it will be deleted', () => {
  const actual = account({ servers: [WEB_1], volumes: ATTACHED });
  const replaced = fileOf(S2 + volumeAt('web-1'));
  assert.match(formatReasons(replaced, actual), /the old web-1 is stopped first, so that all its writes/);
  assert.match(
    formatReasons(fileOf(S2), actual),
    /volume data is attached to web-1: the server is stopped, then the volume is/,
  );
  for (const desired of [replaced, fileOf(S2), fileOf(`servers: []\n${volumeAt('null')}`)]) {
    const order = stepsOf(compare(desired, actual).plan).map(({ act }) => act.do);
    const after = order.slice(order.indexOf('stop_server') + 1);
    assert.deepEqual(after.slice(-1), ['destroy_server']);
    assert.ok(order.every((one) => one !== 'detach_volume') || after.includes('detach_volume'), order.join());
    const stopped = account({ servers: [{ ...WEB_1, status: 'stopped' }], volumes: ATTACHED });
    assert.doesNotMatch(formatReasons(desired, stopped), /is stopped/);
  }
  const both = `servers:\n${server('s1')}${server('s1', '', 'web-2')}${volumeAt('web-2')}`;
  const running = account({ servers: [WEB_1, { ...WEB_1, id: 'srv_2', name: 'web-2' }], volumes: ATTACHED });
  assert.match(
    formatReasons(fileOf(both), running),
    /web-1 is running: unmount the volume first, it is detached while in use/,
  );
  assert.doesNotMatch(formatReasons(fileOf(both), running), /is stopped/);
});

test('deleting a firewall group names the servers that lose it, except those that are deleted too', () => {
  const actual = account({ servers: [WEB_1], groups: [GROUP] });
  const absent = 'firewall_groups: [{ name: web, absent: true }]\n';
  assert.match(
    formatReasons(fileOf(absent), actual),
    /destroy\nweb\nmarked as absent\nno longer applied to: web-1/,
  );
  assert.doesNotMatch(formatReasons(fileOf(`servers: []\n${absent}`), actual), /no longer applied/);
});

test('changes that a suspended server does not allow are reported before anything is changed', () => {
  const suspended = { ...WEB_1, status: 'suspended', suspended_reason: 'balance' } as const;
  const volume = 'volumes: [{ name: data, region: par, size_gb: 10, server: web-1 }]\n';
  const rebuilt = `servers:\n${server('s1').replace('debian-12', 'debian-13')}${volume}`;
  const faultsOf = (text: string, one: ActualServer) =>
    compare(fileOf(text), account({ servers: [one] })).faults.map(
      ({ exit, message }) => `${exit} ${message}`,
    );
  const [first = '', second = '', ...more] = faultsOf(rebuilt, suspended).sort();
  assert.match(first, /^conflict cannot be attached: server web-1 is suspended/);
  assert.match(second, /^conflict cannot be rebuilt/);
  assert.deepEqual(more, []);
  assert.deepEqual(faultsOf(`servers:\n${server('s1', ', auto_renew: true')}`, suspended), []);
  const frozen = { ...suspended, suspended_reason: 'operator' } as const;
  assert.match(faultsOf(S2, frozen).join(), /conflict cannot be changed/);
});

test('a name that several groups or volumes have is reported with their IDs', () => {
  const desired = fileOf(
    'firewall_groups: [{ name: web, default_action: drop }]\n' +
      'volumes: [{ name: data, region: par, size_gb: 10 }]\n',
  );
  const volume = { name: 'data', region: 'par', size_gb: 10, attached_to: null } as const;
  const actual = account({
    groups: [GROUP, { ...GROUP, id: 'fwg_2' }],
    volumes: ['vol_1', 'vol_2'].map((id) => ({ ...volume, id }) as Actual['volumes'][number]),
  });
  const messages = compare(desired, actual).faults.map(({ message }) => message);
  assert.deepEqual(messages.sort(), [
    'more than one firewall group is named "web" (fwg_1, fwg_2); rename all but one',
    'more than one volume is named "data" (vol_1, vol_2); rename all but one',
  ]);
});

test('a file changes the protection of servers and volumes, and only the members that it names', () => {
  const actual = account({ servers: [WEB_1], volumes: [{ ...DATA, attached_to: null }] });
  const desired = fileOf(
    `servers:\n${server('s1', ', protection: { delete: true }')}` +
      'volumes: [{ name: data, region: par, size_gb: 50, protection: { delete: true } }]\n',
  );
  const { plan, faults } = compare(desired, actual);
  assert.deepEqual(faults, []);
  const patches = plan.items.flatMap(({ actions }) =>
    actions.flatMap((act) => ('patch' in act ? [[act.do, act.patch]] : [])),
  );
  assert.deepEqual(patches, [
    ['update_volume', { protection: { delete: true } }],
    ['update_server', { protection: { delete: true } }],
  ]);
  assert.match(formatReasons(desired, actual), /protection\.delete: false → true/);
  const model = new Model(actual);
  model.run(plan);
  assert.deepEqual(compare(desired, model.actual).plan.items, []);
});

test('a plan that would destroy something protected is refused, and says how to lift the protection', () => {
  const servers = [{ ...WEB_1, protection: { delete: true, rebuild: true } }];
  const volumes = [{ ...DATA, attached_to: null, protection: { delete: true } }];
  const actual = account({ servers, volumes });
  const messagesOf = (text: string) =>
    compare(fileOf(text), actual).faults.map(({ place, message }) => `${place}: ${message}`);
  const command = '`skerry server update srv_1 --delete-protection=false`';
  const deletion = `server web-1: is protected against deletion; run ${command} first`;
  assert.deepEqual(messagesOf('servers: []\n'), [deletion]);
  assert.deepEqual(messagesOf(S2), [deletion]);
  // Lifting it in the same file is not enough: one edit must not do both.
  assert.deepEqual(messagesOf(`servers:\n${server('s2', ', protection: { delete: false }')}`), [deletion]);
  assert.match(
    messagesOf(`servers:\n${server('s1').replace('debian-12', 'alpine')}`).join(),
    /against a rebuild/,
  );
  assert.deepEqual(messagesOf('volumes: [{ name: data, absent: true }]\n'), [
    'volume data: is protected against deletion; ' +
      'run `skerry volume update vol_1 --delete-protection=false` first',
  ]);
});

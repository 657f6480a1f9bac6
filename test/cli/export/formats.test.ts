/** Hostile names, labels, and notes stay texts in every format of `skerry export`. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import type { ExportedAccount } from '../../../packages/cli/src/export/account.ts';
import { withoutGone } from '../../../packages/cli/src/export/account.ts';
import { toPlaybook } from '../../../packages/cli/src/export/ansible.ts';
import { toHcl } from '../../../packages/cli/src/export/hcl.ts';
import { toProgram } from '../../../packages/cli/src/export/pulumi.ts';
import { PYTHON, SKIP } from '../../integrations/ansible/support/ansible.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';
import type { JsonBody } from '../../support/v1-client.ts';
import { readHcl } from './hcl-reader.ts';
import { hostileAccount } from './hostile-account.ts';

const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/u;

function forEachAccount(check: (account: ExportedAccount) => void): void {
  fc.assert(
    fc.property(hostileAccount, (account) => {
      check(account);
    }),
    { numRuns: PROPERTY_RUNS * 4 },
  );
}

function assertVisible(text: string): void {
  assert.doesNotMatch(text.replaceAll('\n', ''), INVISIBLE);
}

const rulesOf = (rules: ExportedAccount['groups'][number]['rules']) =>
  rules.map(({ id: _id, ...rule }) =>
    Object.fromEntries(Object.entries(rule).filter(([, one]) => one !== null)),
  );
const without = (item: object, ...names: string[]) =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)));
const orNone = <T extends object>(value: T) => (Object.keys(value).length > 0 ? value : undefined);

test('HCL has a block with the texts of each resource, also if they look like HCL', () => {
  forEachAccount((account) => {
    const text = toHcl(account);
    assertVisible(text);
    const blocks = readHcl(text);
    const of = (kind: string) => blocks.filter((one) => one.kind === kind);
    assert.equal(blocks.length, 10);
    for (const [at, { name, public_key }] of account.keys.entries()) {
      const found = of('ssh_key')[at];
      assert.deepEqual([found?.name, found?.attributes.public_key], [name, public_key]);
    }
    for (const [at, { name, labels, tags }] of account.servers.entries()) {
      const { attributes, blocks: nested, ...found } = of('server')[at] ?? assert.fail();
      assert.deepEqual(
        [found.name, attributes.labels, attributes.tags],
        [name, orNone(labels), orNone(tags)],
      );
      assert.deepEqual(
        nested.map((one) => [one.kind, one.attributes]),
        [
          ['protection', { delete: true }],
          ['rdns', { ipv4: 'a.example.org' }],
        ],
      );
    }
    for (const [at, { name, rules }] of account.groups.entries()) {
      const found = of('firewall_group')[at] ?? assert.fail();
      assert.deepEqual([found.name, found.blocks.map((one) => one.attributes)], [name, rulesOf(rules)]);
    }
    for (const [at, { name, labels, filesystem }] of account.volumes.entries()) {
      const { attributes, ...found } = of('volume')[at] ?? assert.fail();
      assert.deepEqual(
        [found.name, attributes.labels, attributes.filesystem ?? null],
        [name, orNone(labels), filesystem],
      );
    }
    for (const [at, { name, servers, label_selector }] of account.alerts.entries()) {
      const { attributes, ...found } = of('alert')[at] ?? assert.fail();
      assert.deepEqual(
        [found.name, attributes.servers ?? null, attributes.label_selector ?? null],
        [name, servers, label_selector],
      );
    }
  });
});

/** Parses a playbook. A text that Ansible would run as a template must have the tag. */
function readPlaybook(text: string): JsonBody {
  const customTags = [{ tag: '!unsafe', resolve: (value: string) => value }];
  for (const [, raw = ''] of text.matchAll(/(!unsafe )?"(?:[^"\\]|\\.)*"/g))
    assert.ok(raw === '' || raw === '!unsafe ');
  const [play] = parse(text, { version: '1.1', customTags });
  return play;
}

test('a playbook has the texts of each resource, and templates in them never run', () => {
  forEachAccount((account) => {
    const text = toPlaybook(account);
    assertVisible(text);
    const isTemplate = (line: string) => /\{[{%#]/.test(line);
    for (const line of text.split('\n').filter(isTemplate))
      assert.match(line, /^ +(?:- |"?[\w-]+"?: )!unsafe "/);
    const { hosts, tasks } = readPlaybook(text);
    assert.deepEqual([hosts, tasks.length], ['localhost', 10]);
    const options = (module: string) =>
      tasks.flatMap((task: JsonBody) => task[`skerry.cloud.${module}`] ?? []) as JsonBody[];
    for (const [at, { name, labels, tags, id }] of account.servers.entries()) {
      const found = options('server')[at];
      assert.deepEqual([found.name, found.labels, found.tags], [name, orNone(labels), orNone(tags)]);
      assert.equal(found.id !== undefined, isAmbiguous(account.servers, id));
      assert.equal(tasks.find((one: JsonBody) => one.name === `server ${id}`)?.name, `server ${id}`);
    }
    for (const [at, { name, rules, applied_to }] of account.groups.entries()) {
      const found = options('firewall_group')[at];
      assert.deepEqual([found.name, found.rules], [name, rulesOf(rules)]);
      assert.equal(found.servers.length, applied_to.length);
    }
    for (const [at, { name, labels }] of account.volumes.entries()) {
      assert.deepEqual([options('volume')[at].name, options('volume')[at].labels], [name, orNone(labels)]);
    }
    for (const [at, { name, value, label_selector }] of account.alerts.entries()) {
      const found = options('alert')[at];
      assert.deepEqual(
        [found.name, found.value, found.label_selector ?? null],
        [name, value, label_selector],
      );
    }
  });
});

function isAmbiguous(items: readonly { readonly id: string; readonly name: string }[], id: string): boolean {
  const name = items.find((one) => one.id === id)?.name.normalize('NFC');
  return items.filter((one) => one.name.normalize('NFC') === name).length > 1;
}

/** Reads playbooks as Ansible does, with YAML 1.1. */
const READ_PLAYBOOKS = `
import json, sys, yaml
class Loader(yaml.SafeLoader):
    pass
Loader.add_constructor('!unsafe', lambda loader, node: loader.construct_scalar(node))
print(json.dumps([yaml.load(text, Loader) for text in json.load(sys.stdin)]))
`;

test('the parser of Ansible reads the same playbook', { skip: SKIP }, () => {
  const texts: string[] = [];
  forEachAccount((account) => {
    texts.push(toPlaybook(account));
  });
  const { stdout, stderr } = spawnSync(PYTHON, ['-c', READ_PLAYBOOKS], {
    ...{ input: JSON.stringify(texts), encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 },
  });
  assert.equal(stderr, '');
  const read = JSON.parse(stdout) as JsonBody[];
  assert.equal(read.length, texts.length);
  for (const [at, text] of texts.entries()) assert.deepEqual(read[at][0], readPlaybook(text));
});

/** Reads a text of a program: its parts, with references as objects. */
function readText(text: string): string | { readonly reference: string } {
  const [, reference] = /^\$\{([a-z0-9_]+)\.id\}$/.exec(text) ?? [];
  if (reference !== undefined) return { reference };
  const read = text.replace(/\$\$|\$\{/g, (one) =>
    one === '$$' ? '$' : assert.fail(`a reference in ${text}`),
  );
  return read;
}

function readTexts(value: JsonBody): JsonBody {
  if (typeof value === 'string') return readText(value);
  if (Array.isArray(value)) return value.map(readTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, readTexts(one)]));
}

test('a Pulumi program has the texts of each resource, and only its own references', () => {
  forEachAccount((account) => {
    const text = toProgram(account);
    assertVisible(text);
    const { resources } = parse(text, { version: '1.1' });
    assert.equal(Object.keys(resources).length, 10);
    const byId = new Map(
      Object.entries<JsonBody>(resources).map(([name, one]) => {
        assert.match(name, /^[a-z][a-z0-9_]*$/);
        return [one.options.import, { name, type: one.type, ...readTexts(one.properties), logical: name }];
      }),
    );
    const refer = (id: string) => ({ reference: byId.get(id)?.logical });
    for (const { id, name, labels, tags } of account.servers) {
      const found = byId.get(id) ?? assert.fail();
      assert.deepEqual([found.name, found.labels, found.tags], [name, orNone(labels), orNone(tags)]);
      assert.deepEqual(found.sshKeys, ['k_0', 'k_1'].map(refer));
    }
    for (const { id, name, rules } of account.groups) {
      assert.deepEqual([byId.get(id)?.name, byId.get(id)?.rules], [name, rulesOf(rules)]);
    }
    for (const { id, name, labels, filesystem, attached_to } of account.volumes) {
      const found = byId.get(id) ?? assert.fail();
      assert.deepEqual(
        [found.name, found.labels, found.filesystem ?? null],
        [name, orNone(labels), filesystem],
      );
      assert.deepEqual(found.server, attached_to === null ? undefined : refer(attached_to));
    }
    for (const { id, name, public_key } of account.keys) {
      assert.deepEqual([byId.get(id)?.name, byId.get(id)?.publicKey], [name, public_key]);
    }
    for (const { id, name, servers, label_selector } of account.alerts) {
      const found = byId.get(id) ?? assert.fail();
      assert.deepEqual([found.name, found.servers], [name, servers?.map(refer)]);
      assert.deepEqual(found.labelSelector ?? null, label_selector);
    }
  });
});

test('servers that are being deleted and lost volumes are left out, with references to them', () => {
  const [account] = fc.sample(hostileAccount, 1) as [ExportedAccount];
  const { keys, groups, servers, volumes, alerts } = account;
  const gone = withoutGone({
    alerts,
    keys: keys.slice(1),
    groups,
    servers: servers.map((one) => (one.id === 'srv_0' ? { ...one, status: 'destroying' as const } : one)),
    volumes: volumes.map((one) => (one.id === 'vol_1' ? { ...one, lost_at: '2026-01-01T00:00:00Z' } : one)),
  });
  assert.deepEqual(
    gone.servers.map(({ id, ssh_keys }) => [id, ssh_keys]),
    [['srv_1', ['k_1']]],
  );
  assert.deepEqual(
    gone.volumes.map(({ id, attached_to }) => [id, attached_to]),
    [['vol_0', null]],
  );
  for (const { applied_to } of gone.groups) assert.deepEqual(applied_to, ['srv_1']);
  // The export sorts them by their random names.
  assert.deepEqual(Object.fromEntries(gone.alerts.map(({ id, servers: watched }) => [id, watched])), {
    alr_0: ['srv_1'],
    alr_1: null,
  });
  assert.deepEqual(without(gone, 'keys', 'groups', 'servers', 'volumes', 'alerts'), {});
});

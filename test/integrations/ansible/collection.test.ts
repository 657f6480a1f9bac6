/** The collection as a package: its metadata, its documentation, and the imports of its files. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import project from '../../../package.json' with { type: 'json' };
import { codeBlocks, readGuide } from '../../docs/docs-content.ts';
import { readTree } from '../../support/project-files.ts';
import type { JsonBody } from '../../support/v1-client.ts';
import { type Ansible, COLLECTION, installAnsible, PYTHON, SKIP } from './support/ansible.ts';

const read = (path: string) => readFileSync(join(COLLECTION, path), 'utf8');
const MODULES = readdirSync(join(COLLECTION, 'plugins/modules')).map((file) => file.replace('.py', ''));
const ACTION_KEYWORDS = /^(?:name|register|loop|delegate_to|when)$/;

/** Prints the arguments of every module as JSON. */
const PRINT_ARGUMENTS = `
import importlib, json, sys
from ansible_collections.skerry.cloud.plugins.module_utils.module import API_OPTIONS
path = 'ansible_collections.skerry.cloud.plugins.modules.%s'
specs = {name: dict(API_OPTIONS, **importlib.import_module(path % name).OPTIONS) for name in sys.argv[1:]}
print(json.dumps(specs, default=str))
`;

const STANDARD_LIBRARY = [
  ...[
    'base64',
    'binascii',
    'collections',
    'datetime',
    'hashlib',
    'http.client',
    'ipaddress',
    'json',
    'random',
    're',
  ],
  ...['time', 'unicodedata', 'urllib.error', 'urllib.parse', 'uuid'],
];
/** Parts of Ansible, and the files that may import them. The first two have a BSD license. */
const ALLOWED_IMPORTS: Readonly<Record<string, RegExp>> = {
  'ansible.module_utils.basic': /^plugins\/module_utils\//,
  'ansible.module_utils.urls': /^plugins\/module_utils\//,
  // GPL: only the inventory plugin, which runs inside ansible-core and is never copied to another machine.
  'ansible.errors': /^plugins\/inventory\//,
  'ansible.plugins.inventory': /^plugins\/inventory\//,
  'ansible.utils.unsafe_proxy': /^plugins\/inventory\//,
};

/** Facts of an option in the form that documentation and arguments share. */
const optionFacts = ({ type, default: value, choices, required, elements }: JsonBody) => ({
  ...{ type, choices: choices ?? null, required: required ?? false, elements: elements ?? null },
  default: value ?? null,
});

/** Returns the tasks of a text: of plays, or a list of tasks. */
function tasksOf(text: string): JsonBody[] {
  const items = parseAllDocuments(text).flatMap((document) => document.toJS() as JsonBody);
  return items.flatMap((item) => item.tasks ?? (item.plugin ? [] : [item]));
}

it('the collection has the version and the license of the project', () => {
  const galaxy = parse(read('galaxy.yml'));
  assert.deepEqual([galaxy.namespace, galaxy.name], ['skerry', 'cloud']);
  assert.equal(galaxy.version, project.version);
  assert.deepEqual(galaxy.license, [project.license]);
  assert.equal(read('LICENSE'), readFileSync(new URL('../../../LICENSE', import.meta.url), 'utf8'));
});

it('the action group of the collection has every module', () => {
  const { action_groups, requires_ansible } = parse(read('meta/runtime.yml'));
  assert.deepEqual(action_groups.skerry, [...MODULES].sort());
  assert.equal(requires_ansible, '>=2.14.0');
});

it('files of the collection import the standard library, the collection, and little of Ansible', () => {
  const files = readTree(['integrations/ansible'], /\.py$/);
  assert.ok(files.size > 12);
  for (const [path, text] of files) {
    const inner = path.replace('integrations/ansible/', '');
    assert.match(text, /^(?:#!\/usr\/bin\/python\n)?# SPDX-License-Identifier: Apache-2\.0\n/, path);
    for (const [, from, plain] of text.matchAll(/^\s*(?:from (\S+) import|import (\S+))/gm)) {
      const name = from ?? plain ?? '';
      const isOurs = name.startsWith('ansible_collections.skerry.cloud.plugins.module_utils.');
      const isAllowed = isOurs || STANDARD_LIBRARY.includes(name) || ALLOWED_IMPORTS[name]?.test(inner);
      assert.ok(isAllowed, `${path} imports ${name}`);
    }
  }
});

describe('the collection, built and installed', { skip: SKIP }, () => {
  let ansible: Ansible;
  let docs: Record<string, JsonBody>;
  let inventory: JsonBody;
  before(async () => {
    if (SKIP) return;
    ansible = await installAnsible({ PYTHONPATH: '' });
    const names = MODULES.map((name) => `skerry.cloud.${name}`);
    docs = await readDocs('module', ...names);
    inventory = (await readDocs('inventory', 'skerry.cloud.skerry'))['skerry.cloud.skerry'];
  });
  after(() => ansible?.close());

  const readDocs = async (type: string, ...names: string[]) => {
    const { code, stdout, stderr } = await ansible.run('ansible-doc', '--json', '-t', type, ...names);
    assert.deepEqual([code, stderr], [0, '']);
    return JSON.parse(stdout) as Record<string, JsonBody>;
  };

  it('contains its plugins, its README, and its license, and nothing else', async () => {
    const { files } = JSON.parse(
      readFileSync(join(ansible.collections, 'ansible_collections/skerry/cloud/FILES.json'), 'utf8'),
    );
    const packed = files
      .filter(({ ftype }: { ftype: string }) => ftype === 'file')
      .map(({ name }: { name: string }) => name);
    const plugins = [...readTree(['integrations/ansible/plugins'], /\.py$/).keys()];
    assert.deepEqual(
      packed.sort(),
      [
        ...['LICENSE', 'README.md', 'meta/runtime.yml'],
        ...plugins.map((path) => path.replace('integrations/ansible/', '')),
      ].sort(),
    );
  });

  it('documents every option of every module as the module reads it', async () => {
    const env = [`PYTHONPATH=${ansible.collections}`, PYTHON, '-c', PRINT_ARGUMENTS];
    const { stdout, stderr } = await ansible.run('env', ...env, ...MODULES);
    assert.equal(stderr, '');
    const specs = JSON.parse(stdout) as Record<string, JsonBody>;
    const compare = (where: string, documented: JsonBody, read: JsonBody) => {
      assert.deepEqual(Object.keys(documented).sort(), Object.keys(read).sort(), where);
      for (const [name, option] of Object.entries<JsonBody>(read)) {
        assert.deepEqual(optionFacts(documented[name]), optionFacts(option), `${where}.${name}`);
        if (option.options) compare(`${where}.${name}`, documented[name].suboptions, option.options);
      }
    };
    for (const name of MODULES) compare(name, docs[`skerry.cloud.${name}`]?.doc.options, specs[name]);
  });

  it('documents check mode, diff, examples, and results of every module', () => {
    for (const [name, { doc, examples, return: result }] of Object.entries(docs)) {
      const { check_mode, diff_mode, action_group } = doc.attributes;
      assert.deepEqual(
        [check_mode.support, action_group.membership],
        ['full', ['skerry.cloud.skerry']],
        name,
      );
      assert.equal(diff_mode.support, name.endsWith('_info') ? 'N/A' : 'full', name);
      assert.ok(Object.keys(result).length > 0 && tasksOf(examples).length > 0, name);
    }
  });

  it('has examples whose options exist', () => {
    const texts = [
      ...Object.values(docs).map(({ examples }) => examples),
      ...[readGuide('customers/ansible'), read('README.md')].flatMap((text) =>
        codeBlocks(text).flatMap(({ language, text: block }) => (language === 'yaml' ? [block] : [])),
      ),
    ];
    let count = 0;
    for (const task of texts.flatMap(tasksOf)) {
      for (const [action, options] of Object.entries<JsonBody>(task)) {
        if (ACTION_KEYWORDS.test(action) || !action.startsWith('skerry.cloud.')) continue;
        const known = Object.keys(docs[action]?.doc.options ?? assert.fail(`${action} does not exist`));
        for (const name of Object.keys(options)) assert.ok(known.includes(name), `${action}: ${name}`);
        count += 1;
      }
    }
    assert.ok(count > 20, `${count} tasks`);
    const known = Object.keys(inventory.doc.options);
    for (const document of parseAllDocuments(inventory.examples)) {
      for (const name of Object.keys(document.toJS())) assert.ok(known.includes(name), name);
    }
  });

  it('has inventory options from the variables of the CLI', () => {
    const { api_token, api_url } = inventory.doc.options;
    assert.deepEqual(
      [api_token.env, api_url.env],
      [[{ name: 'SKERRY_TOKEN' }], [{ name: 'SKERRY_API_URL' }]],
    );
  });
});

/** The Pulumi provider as a package: its metadata, its schema, its settings, and its README. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it, test } from 'node:test';
import { parse } from 'yaml';
import manifest from '../../../integrations/pulumi/package.json' with { type: 'json' };
import { RESOURCES } from '../../../integrations/pulumi/src/resources/index.ts';
import { toStruct, UNKNOWN, type Values } from '../../../integrations/pulumi/src/rpc/values.ts';
import project from '../../../package.json' with { type: 'json' };
import { codeBlocks } from '../../docs/docs-content.ts';
import type { JsonBody } from '../../support/v1-client.ts';
import { Engine, urnOf } from './support/engine.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const README = read('integrations/pulumi/README.md');

test('the provider has the version and the license of the project', () => {
  assert.equal(manifest.version, project.version);
  assert.equal(manifest.license, project.license);
  assert.equal(read('integrations/pulumi/LICENSE'), read('LICENSE'));
});

test('the README says that no pulumi up was run', () => {
  assert.match(README, /\*\*No `pulumi up` was run:\*\*/);
});

test('every input of a resource has a description, and a way to change it', () => {
  for (const { type, inputs, outputs } of RESOURCES) {
    for (const [name, { about, change }] of Object.entries(inputs)) {
      assert.match(about, /\.$/, `${type}.${name}`);
      assert.match(change, /^(update|replace|order)$/);
      assert.ok(!Object.hasOwn(outputs, name) && !['id', 'urn'].includes(name), `${type}.${name}`);
    }
  }
});

describe('the Pulumi provider without an account', () => {
  let engine: Engine;
  before(async () => {
    engine = await Engine.start();
  });
  after(() => engine.stop());

  it('says its version, and supports secrets and previews', async () => {
    assert.equal((await engine.raw('GetPluginInfo')).version, manifest.version);
    const answer = await engine.configure({ apiUrl: 'https://skerry.example', token: UNKNOWN });
    assert.deepEqual(
      { ...answer },
      { acceptSecrets: true, supportsPreview: true, acceptResources: false, acceptOutputs: false },
    );
  });

  it('the schema has every resource, with required inputs and references that resolve', async () => {
    const schema = JSON.parse((await engine.raw('GetSchema', { version: 0 })).schema);
    const kinds = ['Server', 'Volume', 'Snapshot', 'SshKey', 'FirewallGroup', 'Alert'];
    assert.deepEqual(
      Object.keys(schema.resources),
      kinds.map((kind) => `skerry:index:${kind}`),
    );
    const { requiredInputs, inputProperties } = schema.resources['skerry:index:Server'];
    assert.deepEqual(requiredInputs, ['plan', 'region', 'image', 'sshKeys']);
    assert.deepEqual(
      [inputProperties.userData.secret, inputProperties.plan.willReplaceOnChanges],
      [true, true],
    );
    assert.equal(schema.config.variables.token.secret, true);
    const references = JSON.stringify(schema).match(/#\/types\/[\w:]+/g) ?? [];
    for (const one of references) assert.ok(schema.types[one.replace('#/types/', '')], one);
    assert.ok(references.length > 5);
  });

  it('checks the configuration, and another host replaces the provider', async () => {
    const check = async (news: Values) =>
      (await engine.raw('CheckConfig', { urn: 'urn', news: toStruct(news) })).failures;
    assert.deepEqual(await check({ apiUrl: 'https://skerry.example', token: UNKNOWN }), []);
    const wrong = await check({ apiUrl: 'not a URL', tokens: 'x' });
    assert.deepEqual(
      wrong.map(({ property }: { property: string }) => property),
      ['tokens', 'apiUrl'],
    );
    const diff = async (olds: Values, news: Values) =>
      await engine.raw('DiffConfig', { old_inputs: toStruct(olds), news: toStruct(news) });
    const base = { apiUrl: 'https://a.example', token: 'one' };
    assert.equal((await diff(base, base)).changes, 'DIFF_NONE');
    assert.deepEqual((await diff(base, { ...base, token: 'two' })).replaces, []);
    assert.deepEqual((await diff(base, { ...base, apiUrl: 'https://b.example' })).replaces, ['apiUrl']);
  });

  it('the program of the README passes the checks', async () => {
    const [program = ''] = codeBlocks(README).flatMap(({ language, text }) =>
      language === 'yaml' ? [text] : [],
    );
    const { resources } = parse(program);
    assert.equal(Object.keys(resources).length, 5);
    for (const [name, { type, properties }] of Object.entries<JsonBody>(resources)) {
      await engine.check(urnOf(type.split(':')[2], name), properties);
    }
  });
});

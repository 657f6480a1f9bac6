/** `skerry mcp` with a client of the protocol, against a sandbox. */
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { Scope } from '../../../src/spec/scopes.ts';
import { RULE } from '../../http/v1/contract/estate.ts';
import type { JsonBody } from '../../support/v1-client.ts';
import { createExampleAccount, type ExampleAccount, startExampleWorld } from '../support/example-account.ts';
import { OPERATIONS, type Recorder, startRecorder } from '../support/recorder.ts';
import { type Answer, type Assistant, startAssistant } from './mcp-client.ts';

describe('skerry mcp', () => {
  let account: ExampleAccount;
  let recorder: Recorder;
  let order: JsonBody;
  /** Without forms. */
  let plain: Assistant;
  let asked: Assistant;
  let answer: Answer;
  const opened: Assistant[] = [];

  const start = async (token: string, options: Parameters<typeof startAssistant>[1] = {}) => {
    const home = account.folder;
    const assistant = await startAssistant({ url: recorder.url, token, home }, options);
    opened.push(assistant);
    return assistant;
  };
  const scoped = async (scope: Scope) =>
    (await account.create('/account/tokens', { name: 'assistant', scope })).token as string;
  before(async () => {
    account = await createExampleAccount(await startExampleWorld());
    recorder = await startRecorder(account.world.url);
    const { named } = account;
    const [image, key] = [named['debian-13'], named.laptop];
    order = { name: 'new-1', plan: 's1', region: 'par', image, ssh_keys: [key] };
    plain = await start(account.token);
    asked = await start(account.token, { answer: () => answer });
  });
  after(async () => {
    for (const assistant of opened) await assistant.close();
    await recorder.stop();
    await account.world.close();
  });

  const statusOf = async (id: string | undefined) => (await account.api.get(`/servers/${id}`)).body.status;
  const balance = async () => (await account.api.get('/billing/balance')).body.usd as number;

  it('a tool exists for each operation with JSON but the creation of tokens', async () => {
    const { tools } = await plain.client.listTools();
    const names = new Set(tools.map(({ name }) => name));
    const missing = OPERATIONS.map(({ id }) => id).filter((id) => !names.has(id.replace('.', '_')));
    assert.deepEqual(missing.sort(), ['events.stream', 'images.create', 'tokens.create']);
    assert.equal(names.size, OPERATIONS.length - missing.length);
    for (const { name, description, inputSchema } of tools) {
      assert.match(name, /^[a-z_]{1,64}$/);
      assert.match(description ?? '', /Scope: (read|write|billing)\.$/, name);
      assert.equal(inputSchema.type, 'object');
    }
  });

  it('tools carry their scope, their price, and whether they destroy', async () => {
    const { tools } = await plain.client.listTools();
    const by = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
    const facts = (name: string) => {
      const { annotations, _meta = {} } = by[name] ?? assert.fail(name);
      const { readOnlyHint, destructiveHint, idempotentHint } = annotations ?? {};
      const { 'skerry/scope': scope, 'skerry/quoted_as': quoted, 'skerry/destroys': destroys } = _meta;
      return { readOnlyHint, destructiveHint, idempotentHint, scope, quoted, destroys };
    };
    const write = { readOnlyHint: false, scope: 'write', quoted: null, destroys: false };
    assert.deepEqual(facts('servers_create'), {
      ...{ ...write, destructiveHint: false, idempotentHint: false },
      quoted: 'server.create',
    });
    assert.deepEqual(facts('servers_delete'), {
      ...{ ...write, destructiveHint: true, idempotentHint: true },
      ...{ quoted: 'server.delete', destroys: true },
    });
    assert.deepEqual(facts('servers_update'), { ...write, destructiveHint: true, idempotentHint: true });
    const reads = { readOnlyHint: true, destructiveHint: false, idempotentHint: true };
    assert.deepEqual(facts('ledger_list'), { ...reads, scope: 'billing', quoted: null, destroys: false });
    const properties = Object.keys(by.servers_create?.inputSchema.properties ?? {});
    assert.ok(properties.includes('confirm_code') && !properties.includes('quote'), properties.join());
    assert.ok(!Object.hasOwn(by.servers_stop?.inputSchema.properties ?? {}, 'confirm_code'));
  });

  it('a list of tools contains only tools within the scope of the token', async () => {
    const names = async (assistant: Assistant) =>
      new Set((await assistant.client.listTools()).tools.map(({ name }) => name));
    const [all, write] = [await names(plain), await names(await start(await scoped('write')))];
    const reader = await start(await scoped('read'));
    const read = await names(reader);
    const without = (some: Set<string>) => [...all].filter((name) => !some.has(name));
    assert.deepEqual(without(write), [
      'balance_get',
      'ledger_list',
      'topups_create',
      'topups_list',
      'topups_get',
    ]);
    assert.ok(read.has('servers_list') && read.has('quotes_create') && !read.has('servers_stop'));
    assert.match(
      await reader.fail('servers_stop', { id: account.named['web-1'] }),
      /no tool named servers_stop/,
    );
    const readOnly = await names(await start(account.token, { words: ['--read-only'] }));
    assert.ok(
      readOnly.has('ledger_list') && !readOnly.has('servers_stop') && !readOnly.has('servers_create'),
    );
  });

  it('the server warns about a token without limits', () => {
    assert.match(plain.warnings(), /^skerry: the token has no limits: it reaches the whole account\./);
  });

  it('a tool lists, filters, and reads what the API returns', async () => {
    const page = await plain.call('servers_list', { filter: { name: 'web-1' }, page_size: 5 });
    assert.deepEqual([page.object, page.data[0].id], ['list', account.named['web-1']]);
    assert.deepEqual((await plain.call('servers_list', { label: ['env:prod'] })).data, []);
    assert.equal((await plain.call('plans_get', { id: 's1' })).id, 's1');
    const updated = await plain.call('servers_update', { id: account.named['web-1'], tags: ['a'] });
    assert.deepEqual(updated.tags, ['a']);
    const group = { id: account.named.web, applied_to: [] };
    assert.deepEqual((await plain.call('firewall_groups_update', group)).applied_to, []);
  });

  it('a failed call says why, with the fields and the request ID', async () => {
    const text = await plain.fail('servers_update', { id: account.named['web-1'], name: 'Not A Name' });
    assert.match(text, /name: invalid_format[\s\S]*request ID: req_/);
    assert.match(await plain.fail('servers_get', { id: '../account' }), /^id is not an ID$/);
    assert.match(await plain.fail('servers_get'), /^missing arguments: id$/);
    assert.match(await plain.fail('servers_list', { named: 'x' }), /^unknown arguments: named$/);
  });

  it('one call without a form destroys nothing, and a second one with its code does', async () => {
    const { id } = await account.create('/volumes', { name: 'old data', size_gb: 10, region: 'par' });
    const { done, question, confirm_code: code } = await plain.call('volumes_delete', { id });
    assert.equal(done, false);
    assert.equal(question, `This will delete volume "old data" (${id}) and all data on it.`);
    assert.equal((await account.api.get(`/volumes/${id}`)).status, 200);
    assert.match((await plain.call('volumes_delete', { id, confirm_code: code })).action, /^act_/);
    assert.equal((await account.api.get(`/volumes/${id}`)).status, 404);
    assert.match(
      await plain.fail('volumes_delete', { id, confirm_code: code }),
      /used up, expired, or of another/,
    );
  });

  it('a code confirms no other call, and a wrong call uses it up', async () => {
    const { data } = account.named;
    const { id } = await account.create('/volumes', { name: 'other', size_gb: 10, region: 'par' });
    const { confirm_code: code } = await plain.call('volumes_delete', { id });
    for (const given of [
      { id: data, confirm_code: code },
      { id, confirm_code: code },
      { id, confirm_code: '' },
    ]) {
      assert.match(await plain.fail('volumes_delete', given), /used up, expired, or of another call/);
    }
    const [a, b] = [
      await plain.call('volumes_delete', { id }),
      await plain.call('volumes_delete', { id: data }),
    ];
    assert.match(
      await plain.fail('snapshots_delete', { id, confirm_code: a.confirm_code }),
      /of another call/,
    );
    assert.notEqual(a.confirm_code, b.confirm_code);
    for (const one of [id, data]) assert.equal((await account.api.get(`/volumes/${one}`)).status, 200);
  });

  it('an order names its price, and charges it once it is confirmed', async () => {
    const before = await balance();
    recorder.takeRecorded();
    const { question, confirm_code } = await plain.call('servers_create', order);
    assert.deepEqual(recorder.takeRecorded(), ['quotes.create']);
    assert.match(
      question,
      /^This will create a server\. Charges \$7\.35 now \(s1 in par.*\)\. Renews at \$7\.35 on \d{4}-/,
    );
    assert.match(question, /The balance is then \$\d+\.\d\d\. Arguments: \{"name":"new-1"/);
    assert.equal(await balance(), before);
    const made = await plain.call('servers_create', { ...order, confirm_code });
    assert.deepEqual([made.name, await balance()], ['new-1', Math.round((before - 7.35) * 100) / 100]);
    assert.deepEqual(recorder.takeRecorded(), ['servers.create'], 'the quote of the question is used');
    await account.world.settle();
  });

  it('backups with a price name it, and cost no more', async () => {
    const { db } = account.world.opened;
    await db.run('update plans set backup_percent = 20');
    const id = account.named['web-1'];
    // The assistant cannot allow more than the question says.
    const given = { id, enabled: true, keep: 3, max_price_usd: 1_000 };
    const { question, confirm_code } = await plain.call('backup_policies_replace', given);
    assert.match(question, /^This will back up server "web-1" .* delete all but the latest 3 backups\./);
    assert.match(question, /Charges \$\d+\.\d\d now, and \$\d+\.\d\d with each renewal\./);
    await db.run('update plans set backup_percent = 90');
    const dearer = await plain.fail('backup_policies_replace', { ...given, confirm_code });
    assert.match(dearer, /price_changed/);
    await db.run('update plans set backup_percent = 20');
    const again = await plain.call('backup_policies_replace', given);
    const made = await plain.call('backup_policies_replace', { ...given, confirm_code: again.confirm_code });
    assert.equal(made.enabled, true);
    await db.run('update plans set backup_percent = 0');
  });

  it('an order that the service would refuse asks nothing', async () => {
    assert.match(await asked.fail('servers_create', { ...order, plan: 's99' }), /plan not_found/);
    assert.deepEqual(asked.questions, []);
  });

  it('a form asks the person, and only a checked and accepted one destroys', async () => {
    const { id } = await account.create('/servers', { ...order, name: 'doomed' });
    await account.world.settle();
    for (const refusal of ['decline', 'cancel', 'leave unchecked'] as const) {
      answer = refusal;
      assert.match(await asked.fail('servers_delete', { id }), /^not confirmed; nothing was changed$/);
      assert.equal(await statusOf(id), 'running', refusal);
    }
    assert.equal(
      asked.questions.at(-1),
      `This will delete server "doomed" (${id}) and all data on its disk. Charges nothing now. ` +
        `The balance is then $${(await balance()).toFixed(2)}. Continue?`,
    );
    answer = 'confirm';
    assert.equal((await asked.call('servers_delete', { id })).status, 'destroying');
    assert.equal(asked.questions.length, 4);
  });

  it('a code does not replace the form of a client that has one', async () => {
    const given = { id: account.named.data, confirm_code: 'x' };
    assert.match(await asked.fail('volumes_delete', given), /^confirm_code is used up/);
  });

  it('an update asks if it lifts a protection or lets a server expire, and not otherwise', async () => {
    const id = account.named['web-1'];
    await plain.call('servers_update', { id, protection: { delete: true, rebuild: true } });
    assert.match(await plain.fail('servers_delete', { id }), /protection\.delete protected/);
    const lift = await plain.call('servers_update', { id, protection: { delete: false } });
    assert.match(lift.question, /^This will lift the protection of server "web-1"/);
    const expire = await plain.call('servers_update', { id, auto_renew: false });
    assert.match(expire.question, /let server "web-1" \(srv_\w+\) expire/);
    const { protection, auto_renew } = (await account.api.get(`/servers/${id}`)).body;
    assert.deepEqual([protection, auto_renew], [{ delete: true, rebuild: true }, true]);
  });

  it('the rules of a group are replaced only after a confirmation', async () => {
    const given = { id: account.named.web, rules: [{ ...RULE, port: '22' }] };
    const { question, confirm_code } = await plain.call('firewall_rules_replace', given);
    assert.match(question, /^This will replace all rules of firewall group "web" \(fwg_\w+\)\. Arguments: /);
    // The same arguments, in another order.
    const again = {
      rules: [Object.fromEntries(Object.entries(given.rules[0] ?? {}).reverse())],
      id: given.id,
    };
    assert.equal(
      (await plain.call('firewall_rules_replace', { confirm_code, ...again })).rules[0].port,
      '22',
    );
  });

  it('secrets are in a private file and not in the result', async () => {
    const id = account.named['web-1'];
    const rescue = await plain.call('servers_rescue', { id });
    const opened = await plain.call('servers_console', { id });
    const hook = { url: account.world.receiver.url('/hooks'), events: ['*'] };
    const webhook = await plain.call('webhooks_create', hook);
    assert.equal(webhook.url, hook.url);
    for (const [result, field, pattern] of [
      [rescue, 'rescue.password', /^\S{8,}$/],
      [opened, 'url', /^http/],
      [webhook, 'secret', /^whsec_/],
    ]) {
      const { mode } = statSync(result.secrets_file);
      assert.equal(mode & 0o777, 0o600);
      const secrets = JSON.parse(readFileSync(result.secrets_file, 'utf8'));
      assert.deepEqual(Object.keys(secrets), [field]);
      assert.match(secrets[field], pattern);
      assert.ok(!JSON.stringify(result).includes(secrets[field]));
    }
  });
});

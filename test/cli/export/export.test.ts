/** `skerry export` of an account, read by the tools that it is for. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { RULE } from '../../http/v1/contract/estate.ts';
import { installAnsible, SKIP_SLOW } from '../../integrations/ansible/support/ansible.ts';
import { Engine, urnOf } from '../../integrations/pulumi/support/engine.ts';
import { createApiToken, type JsonBody } from '../../support/v1-client.ts';
import { createExampleAccount, type ExampleAccount, startExampleWorld } from '../support/example-account.ts';
import { type Cli, createCli } from '../support/run-cli.ts';
import { readHcl } from './hcl-reader.ts';

// biome-ignore lint/suspicious/noTemplateCurlyInString: a text that looks like a template.
const TEMPLATE = '{{ 1 + 1 }} ${x} %{y}';
const USER_DATA = 'a secret in user data';

describe('skerry export', () => {
  let account: ExampleAccount;
  let cli: Cli;
  before(async () => {
    account = await createExampleAccount(await startExampleWorld());
    cli = createCli({ url: account.world.url, token: account.token });
    const { api, create, named, world } = account;
    const user_data_b64 = Buffer.from(USER_DATA).toString('base64');
    const order = { plan: 's1', region: 'par', image: named['debian-13'], ssh_keys: [named.laptop] };
    const labels = { env: 'prod', note: TEMPLATE };
    const groups = { firewall_groups: [named.web] };
    await create('/servers', { ...order, ...groups, name: 'app-1', labels, tags: [TEMPLATE], user_data_b64 });
    // Two servers of one name: their IDs tell them apart.
    await create('/servers', { ...order, name: 'twin', protection: { delete: true }, auto_renew: false });
    await create('/servers', { ...order, name: 'twin', billing_months: 3 });
    await world.settle();
    const [app] = (await api.get('/servers?filter[name]=app-1')).body.data;
    await create(`/servers/${app.id}/rdns`, { ipv4: 'app.example.org', ipv6: 'app6.example.org' });
    const volume = {
      name: TEMPLATE,
      size_gb: 20,
      region: 'par',
      labels: { a: TEMPLATE },
      filesystem: 'ext4',
    };
    const { id } = await create('/volumes', volume);
    await create(`/volumes/${id}/attach`, { server: app.id });
    const rules = [
      { ...RULE, note: TEMPLATE },
      { ...RULE, proto: 'any', port: null, direction: 'out' },
    ];
    await create('/firewall/groups', { name: TEMPLATE, default_action: 'accept', rules });
    await api.call('POST', `/servers/${named['web-1']}/stop`, {}, {});
    await world.settle();
  });
  after(() => account.world.close());

  const exported = async (format: string): Promise<string> => {
    const { code, stdout, stderr } = await cli('export', '--format', format);
    assert.deepEqual([code, stderr], [0, '']);
    return stdout;
  };
  const counts = { ssh_key: 2, firewall_group: 3, server: 4, volume: 2, alert: 1 };

  it('prints every resource once, in the same order each time, and no secret', async () => {
    for (const format of ['hcl', 'ansible', 'pulumi']) {
      const text = await exported(format);
      assert.equal(await exported(format), text);
      for (const secret of [account.token, USER_DATA, Buffer.from(USER_DATA).toString('base64')]) {
        assert.ok(!text.includes(secret));
      }
      for (const id of Object.values(account.named)) {
        const isExported = /^(?:k|fwg|srv|vol)_/.test(id) && !(format === 'ansible' && id.startsWith('img'));
        if (isExported) assert.ok(text.includes(id), `${format}: ${id}`);
      }
    }
    const { content, format } = await cli.json('export', '--format', 'hcl');
    assert.deepEqual([content, format], [await exported('hcl'), 'hcl']);
  });

  it('HCL describes servers with their groups, host names, and protection', async () => {
    const blocks = readHcl(await exported('hcl'));
    const kinds = Object.keys(counts).map((kind) => [kind, blocks.filter((one) => one.kind === kind).length]);
    assert.deepEqual(Object.fromEntries(kinds), counts);
    const app = blocks.find(({ name }) => name === 'app-1') ?? assert.fail();
    assert.deepEqual(app.attributes.firewall_groups, [account.named.web]);
    assert.deepEqual(app.attributes.labels, { env: 'prod', note: TEMPLATE });
    const [rdns] = app.blocks;
    assert.deepEqual([rdns?.attributes.ipv4, rdns?.attributes.ipv6], ['app.example.org', 'app6.example.org']);
  });

  it('the playbook changes nothing in the account, in check mode and without', {
    skip: SKIP_SLOW,
  }, async () => {
    const env = { SKERRY_API_URL: account.world.url, SKERRY_TOKEN: account.token };
    const ansible = await installAnsible(env);
    try {
      await ansible.write('account.yml', await exported('ansible'));
      for (const flags of [['--check', '--diff'], []]) {
        const { stdout, stderr } = await ansible.run('ansible-playbook', 'account.yml', ...flags);
        const [, ok, changed, failed] =
          /ok=(\d+) +changed=(\d+) +unreachable=\d+ +failed=(\d+)/.exec(stdout) ?? [];
        assert.deepEqual([ok, changed, failed], ['12', '0', '0'], `${stdout}${stderr}`);
        assert.doesNotMatch(stderr, /WARNING.*skerry|ssh_keys/);
      }
      // It is a description, so it restores what changed.
      const [app] = (await account.api.get('/servers?filter[name]=app-1')).body.data;
      await account.api.patch(`/servers/${app.id}`, { labels: {} });
      const { stdout } = await ansible.run('ansible-playbook', 'account.yml');
      assert.match(stdout, /changed=1 /);
      assert.equal((await account.api.get(`/servers/${app.id}`)).body.labels.note, TEMPLATE);
    } finally {
      await ansible.close();
    }
  });

  it('the Pulumi program imports every resource without a difference', async () => {
    const { resources } = parse(await exported('pulumi'));
    const engine = await Engine.start();
    await engine.configure({ apiUrl: account.world.url, token: account.token });
    const ids = new Map(Object.entries<JsonBody>(resources).map(([name, one]) => [name, one.options.import]));
    /** As the engine passes it to the provider. */
    const resolve = (value: JsonBody): JsonBody => {
      if (typeof value === 'string') {
        const [, name] = /^\$\{(\w+)\.id\}$/.exec(value) ?? [];
        return name === undefined ? value.replaceAll('$$', '$') : ids.get(name);
      }
      if (Array.isArray(value)) return value.map(resolve);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, resolve(one)]));
    };
    try {
      assert.equal(ids.size, 12);
      for (const [name, { type, properties, options }] of Object.entries<JsonBody>(resources)) {
        const kind = type.split(':')[2];
        const stored = await engine.import(kind, name, options.import);
        assert.equal(stored.id, options.import);
        assert.equal(stored.urn, urnOf(kind, name));
        const { changes, diffs } = await engine.diff(stored, resolve(properties));
        assert.deepEqual([name, changes, diffs], [name, 'DIFF_NONE', []]);
      }
    } finally {
      await engine.stop();
    }
  });

  it('an empty account is an empty configuration', async () => {
    const customer = await account.world.customer();
    const empty = createCli({ url: account.world.url, token: await createApiToken(customer) });
    assert.deepEqual(readHcl((await empty('export', '--format', 'hcl')).stdout), []);
    const [play] = parse((await empty('export', '--format', 'ansible')).stdout);
    assert.deepEqual(play.tasks, []);
    assert.deepEqual(parse((await empty('export', '--format', 'pulumi')).stdout).resources, {});
  });
});

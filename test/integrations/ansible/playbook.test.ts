/** Playbooks and inventories with Ansible itself: the ones of the guide, and what Ansible prints. */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { codeBlocks, readGuide } from '../../docs/docs-content.ts';
import { NO_RATES } from '../../http/v1/contract/estate.ts';
import { publicKey } from '../../panel/support/estate.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { type Ansible, installAnsible, SKIP_SLOW } from './support/ansible.ts';

const SECRET = 'a secret in user data';
const [, SHOP = '', INVENTORY = ''] = codeBlocks(readGuide('customers/ansible'))
  .filter(({ language }) => language === 'yaml')
  .map(({ text }) => text);

describe('Ansible with the collection', { skip: SKIP_SLOW }, () => {
  let world: World;
  let api: V1Client;
  let token: string;
  let ansible: Ansible;
  before(async () => {
    if (SKIP_SLOW) return;
    world = await startWorld(NO_RATES);
    const customer = await world.customer();
    await world.addBalance(customer, 9_000n);
    token = await createApiToken(customer);
    api = V1Client.forUrl(world.url, token);
    ansible = await installAnsible({ SKERRY_API_URL: world.url, SKERRY_TOKEN: token });
    await mkdir(join(ansible.folder, '.ssh'));
    await ansible.write('.ssh/id_ed25519.pub', `${publicKey(7, 'me@laptop')}\n`);
    await ansible.write('shop.yml', SHOP);
    await ansible.write('servers.skerry.yml', INVENTORY);
  });
  after(async () => {
    if (SKIP_SLOW) return;
    await ansible.close();
    await world.close();
  });

  const names = async () => {
    const { data } = (await api.get('/servers?sort=name')).body;
    return data.map(({ name }: { name: string }) => name);
  };
  /** Runs the playbook of the guide; returns the counts of its recap. */
  const playShop = async (...flags: string[]) => {
    const { stdout, stderr } = await ansible.run('ansible-playbook', 'shop.yml', ...flags);
    const [, ok, changed, , failed] =
      /ok=(\d+) +changed=(\d+) +unreachable=(\d+) +failed=(\d+)/.exec(stdout) ?? [];
    assert.equal(failed, '0', `${stdout}${stderr}`);
    return { ok: Number(ok), changed: Number(changed), stdout, stderr };
  };
  const inventory = async (...words: string[]) => {
    const { code, stdout, stderr } = await ansible.run('ansible-inventory', ...words);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };

  it('the playbook of the guide creates everything, and its second run changes nothing', async () => {
    const predicted = await playShop('--check', '--diff');
    assert.deepEqual([predicted.changed, predicted.ok], [5, 5]);
    assert.match(predicted.stdout, /^\+ +"plan": "s1",$/m);
    assert.match(predicted.stderr, /SSH key "deploy" does not exist; check mode assumes/);
    assert.deepEqual(await names(), []);
    assert.equal((await playShop('-vvv')).changed, 5);
    assert.deepEqual(await names(), ['shop-1', 'shop-2']);
    assert.equal((await playShop('--diff')).changed, 0);
    const [group] = (await api.get('/firewall/groups')).body.data;
    assert.deepEqual([group.rules.length, group.applied_to.length], [3, 2]);
  });

  it('tasks take common options from the action group, name wrong fields, and hide secrets', async () => {
    const defaults = { api_token: '{{ token }}', api_url: '{{ url }}' };
    const server = (options: object) => ({
      'skerry.cloud.server': { name: 'shop-1', user_data: SECRET, ...options },
    });
    const results = await ansible.play(
      {
        unknown: {
          ...server({ name: 'shop-3', plan: 's9', region: 'par', image: 'debian', ssh_keys: ['deploy'] }),
        },
        fixed: server({ plan: 's2' }),
        wrong: { 'skerry.cloud.server': { name: 'shop-1', api_token: 'skerry_live_wrong' } },
        predicted: { ...server({ labels: { role: 'db' } }), check_mode: true },
        labeled: server({ labels: { role: 'db', note: '{{ "{{ 1 + 1 }}" }}' }, tags: ['edge'] }),
        again: server({ tags: ['edge'] }),
      },
      { variables: { token, url: world.url }, defaults, env: { SKERRY_TOKEN: '', SKERRY_API_URL: '' } },
    );
    assert.match(results.unknown.msg, /plan: \w+\. \(422 unprocessable, req_/);
    assert.match(
      results.fixed.msg,
      /^cannot change plan of a running server: plan is s1, not s2; set allow_restart=true/,
    );
    assert.match(results.wrong.msg, /\(401 unauthenticated, req_/);
    assert.deepEqual(results.predicted.diff.before.labels, { project: 'shop', role: 'web' });
    assert.deepEqual(
      [results.predicted, results.labeled, results.again].map(({ changed }) => changed),
      [true, true, false],
    );
  });

  it('the inventory of the guide has hosts with groups and variables', async () => {
    const all = await inventory('-i', 'servers.skerry.yml', '--list');
    const { hostvars } = all._meta;
    assert.deepEqual(Object.keys(hostvars), ['shop-2'], 'shop-1 lost the label of the filter');
    const [server] = (await api.get('/servers?filter[name]=shop-2')).body.data;
    assert.equal(hostvars['shop-2'].ansible_host, server.ipv4.address);
    assert.equal(hostvars['shop-2'].ansible_user, 'root');
    assert.deepEqual(
      [hostvars['shop-2'].skerry_id, hostvars['shop-2'].skerry_ipv6],
      [server.id, server.ipv6.address],
    );
    for (const group of [
      'role_web',
      'skerry_region_par',
      'skerry_status_running',
      'skerry_label_project_shop',
    ]) {
      assert.deepEqual(all[group].hosts, ['shop-2'], group);
    }
  });

  it('an inventory names hosts by ID if they share a name, groups by tag, and runs no template', async () => {
    const { id } = (await api.get('/servers?filter[name]=shop-2')).body.data[0];
    await api.patch(`/servers/${id}`, { name: 'shop-1' });
    const options = { plugin: 'skerry.cloud.skerry', group: 'cloud', connect_with: 'ipv6' };
    await ansible.write('all.skerry.yml', options);
    const all = await inventory('-i', 'all.skerry.yml', '--list');
    assert.equal(Object.keys(all._meta.hostvars).length, 2);
    const [tagged] = all.cloud_tag_edge.hosts;
    assert.match(tagged, /^srv_/);
    const host = all._meta.hostvars[tagged];
    assert.equal(host.ansible_host, host.skerry_ipv6);
    assert.deepEqual(host.skerry_labels.note, { __ansible_unsafe: '{{ 1 + 1 }}' });
    await api.patch(`/servers/${id}`, { name: 'shop-2' });
  });

  it('an inventory uses its cache until it is flushed', async () => {
    const options = {
      ...{ plugin: 'skerry.cloud.skerry', cache: true, cache_plugin: 'ansible.builtin.jsonfile' },
      cache_connection: join(ansible.folder, 'cache'),
    };
    await ansible.write('cached.skerry.yml', options);
    await ansible.write('all.yml', [{ hosts: 'all', gather_facts: false }]);
    const hosts = async (...flags: string[]) => {
      const words = ['-i', 'cached.skerry.yml', 'all.yml', '--list-hosts', ...flags];
      const { stdout } = await ansible.run('ansible-playbook', ...words);
      return stdout
        .match(/^ +\S+-\d$/gm)
        ?.map((line) => line.trim())
        .sort();
    };
    assert.deepEqual(await hosts(), ['shop-1', 'shop-2']);
    const { id } = (await api.get('/servers?filter[name]=shop-2')).body.data[0];
    await api.patch(`/servers/${id}`, { name: 'shop-3' });
    assert.deepEqual(await hosts(), ['shop-1', 'shop-2']);
    assert.deepEqual(await hosts('--flush-cache'), ['shop-1', 'shop-3']);
  });

  it('an inventory that the service refuses names the field', async () => {
    await ansible.write('bad.skerry.yml', 'plugin: skerry.cloud.skerry\nfilters: {color: red}\n');
    const { stderr } = await ansible.run('ansible-inventory', '-i', 'bad.skerry.yml', '--list', '-vvv');
    assert.match(stderr, /filter\[color\]/);
  });

  it('nothing that was printed contains the token or the user data', () => {
    assert.ok(ansible.output().includes('VALUE_SPECIFIED_IN_NO_LOG_PARAMETER'));
    for (const secret of [token, SECRET, Buffer.from(SECRET).toString('base64')]) {
      assert.ok(!ansible.output().includes(secret));
    }
  });
});

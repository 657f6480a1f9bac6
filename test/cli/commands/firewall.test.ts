import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { after, before, describe, it, test } from 'node:test';
import { formatRule, parseRule } from '../../../packages/cli/src/commands/firewall/rule-text.ts';
import { NO_RATES, PUBLIC_KEY } from '../../http/v1/contract/estate.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { type Cli, createCli } from '../support/run-cli.ts';

const SSH = 'in tcp 22 203.0.113.0/24 accept';
const HTTPS = 'in tcp 80,443 0.0.0.0/0 accept';

test('a rule on one line parses into an object of the API', () => {
  assert.deepEqual(parseRule(`${SSH} # the office # north`, '--rule'), {
    direction: 'in',
    proto: 'tcp',
    port: '22',
    source: '203.0.113.0/24',
    action: 'accept',
    note: 'the office # north',
  });
});

test('ports are null for protocols without ports and for "all"', () => {
  const ports = ['out udp all ::/0 drop', 'in icmp 0.0.0.0/0 accept', '  in  any ::/0  reject '].map(
    (line) => parseRule(line, '--rule').port,
  );
  assert.deepEqual(ports, [null, null, null]);
});

test('a formatted rule parses into the same rule', () => {
  for (const line of [
    SSH,
    HTTPS,
    'out udp all ::/0 drop',
    'in icmp 0.0.0.0/0 accept',
    'in any ::/0 reject',
  ]) {
    assert.equal(formatRule({ id: 'fwr_1', note: null, ...parseRule(line, '') } as never), line);
  }
});

test('an invalid rule is rejected with the field that is wrong', () => {
  const refused = (line: string) => assert.throws.bind(null, () => parseRule(line, '--rule'));
  refused('')(/--rule: "" has no valid direction in its place; use one of: in, out/);
  refused('up tcp 22 ::/0 accept')(/no valid direction/);
  refused('in sctp 22 ::/0 accept')(/no valid protocol in its place; use one of: tcp, udp, icmp, any/);
  refused('in tcp 203.0.113.0/24 accept')(/use "in tcp ports source action"/);
  refused('in icmp 8 ::/0 accept')(/use "in icmp source action"/);
  refused('in tcp 22 ::/0 allow')(/no valid action in its place; use one of: accept, drop, reject/);
});

describe('skerry firewall', FULL_ONLY, () => {
  let world: World;
  let cli: Cli;
  let folder: string;
  let servers: readonly string[];
  let ordered: (name: string) => Promise<string>;
  before(async () => {
    world = await startWorld(NO_RATES);
    const customer = await world.customer();
    await world.addBalance(customer, 100_000n);
    const token = await createApiToken(customer);
    cli = createCli({ url: world.url, token });
    folder = scratchFolder();
    mkdirSync(folder);
    const api = V1Client.forUrl(world.url, token);
    const { data: images } = (await api.get('/images?family=debian')).body;
    const order = {
      plan: 's1',
      region: 'par',
      image: images.find(({ version }: Record<string, unknown>) => version === '13').id,
    };
    const key = (await api.post('/ssh-keys', { name: 'k', public_key: PUBLIC_KEY })).body.id;
    ordered = async (name: string) =>
      (await api.post('/servers', { ...order, name, ssh_keys: [key] })).body.id;
    servers = [await ordered('web-1'), await ordered('web-2')];
    await world.settle();
  });
  after(() => world.close());

  it('firewall create keeps the order of rules and accepts names of servers', async () => {
    const words = ['--rule', `${SSH} # office`, '--rule', HTTPS, '--server', 'web-1,web-2'];
    const group = await cli.json('firewall', 'create', 'both', ...words);
    assert.deepEqual(group.applied_to.toSorted(), servers.toSorted());
    assert.equal(group.default_action, 'drop');
    assert.deepEqual(
      group.rules.map(({ port, note }: Record<string, unknown>) => [port, note]),
      [
        ['22', 'office'],
        ['80,443', null],
      ],
    );
  });

  it('firewall attach and detach change one server and keep the others', async () => {
    await cli.json('firewall', 'create', 'one', '--server', 'web-1');
    const both = await cli.json('firewall', 'attach', 'one', 'web-2');
    assert.deepEqual(both.applied_to, servers);
    assert.deepEqual((await cli.json('firewall', 'attach', 'one', 'web-2')).applied_to, servers);
    assert.deepEqual((await cli.json('firewall', 'detach', 'one', 'web-1')).applied_to, [servers[1]]);
    assert.deepEqual((await cli.json('firewall', 'update', 'one', '--server', '')).applied_to, []);
  });

  it('concurrent firewall attach commands all take effect', async () => {
    await cli.json('firewall', 'create', 'raced');
    const all = [...servers, await ordered('web-3'), await ordered('web-4')];
    await Promise.all(all.map((id) => cli.json('firewall', 'attach', 'raced', id)));
    const { applied_to: members } = await cli.json('firewall', 'describe', 'raced');
    assert.deepEqual(members.toSorted(), all.toSorted());
  });

  it('firewall describe numbers the rules, and firewall rule delete accepts the numbers', async () => {
    await cli.json('firewall', 'create', 'numbered', '--rule', SSH, '--rule', HTTPS);
    const { stdout } = await cli('firewall', 'describe', 'numbered');
    assert.match(stdout, /\nRules:\n# +DIRECTION.*\n1 +in +tcp +22 .*\n2 +in +tcp +80,443 /);
    const unconfirmed = await cli('firewall', 'rule', 'delete', 'numbered', '1');
    assert.deepEqual([unconfirmed.code, unconfirmed.stdout], [11, '']);
    const done = await cli('firewall', 'rule', 'delete', 'numbered', '1', '--yes');
    assert.deepEqual([done.code, done.stdout, done.stderr], [0, '', '']);
    const { rules } = await cli.json('firewall', 'describe', 'numbered');
    assert.deepEqual(
      rules.map(({ port }: Record<string, unknown>) => port),
      ['80,443'],
    );
  });

  it('firewall rule add accepts a rule with and without quotes', async () => {
    await cli.json('firewall', 'create', 'more');
    const plain = await cli.json('firewall', 'rule', 'add', 'more', ...SSH.split(' '), '--note', 'x');
    const quoted = await cli.json('firewall', 'rule', 'add', 'more', `${HTTPS} # y`);
    assert.deepEqual([plain.port, plain.note, quoted.port, quoted.note], ['22', 'x', '80,443', 'y']);
  });

  it('firewall rule set accepts its own output, JSON, and lines', async () => {
    await cli.json('firewall', 'create', 'filed', '--rule', SSH);
    const shown = (await cli('firewall', 'describe', 'filed', '-o', 'yaml')).stdout;
    const files = {
      'shown.yaml': shown,
      'rules.json': JSON.stringify([{ direction: 'in', proto: 'any', source: '::/0', action: 'drop' }]),
      'lines.yaml': `- '${SSH} # office'\n- ${HTTPS}\n`,
    };
    const counts: unknown[] = [];
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(`${folder}/${name}`, text);
      const set = await cli.json('firewall', 'rule', 'set', 'filed', '--file', `${folder}/${name}`, '--yes');
      counts.push(set.rules.map(({ note, proto }: Record<string, unknown>) => note ?? proto));
    }
    assert.deepEqual(counts, [['tcp'], ['any'], ['office', 'tcp']]);
  });

  it('firewall rule set reports an invalid file before it sends anything', async () => {
    writeFileSync(`${folder}/bad.yaml`, '[');
    writeFileSync(`${folder}/other.yaml`, 'servers: []\n');
    const set = (...words: string[]) => cli('firewall', 'rule', 'set', 'filed', ...words, '--yes');
    assert.match((await set('--file', `${folder}/bad.yaml`)).stderr, /bad\.yaml is not valid JSON or YAML/);
    assert.match((await set('--file', `${folder}/other.yaml`)).stderr, /must contain a list of rules/);
    assert.match((await set('--file', `${folder}/none.yaml`)).stderr, /cannot read .*none\.yaml/);
    assert.equal((await set()).code, 2);
  });

  it('firewall delete rejects a group that is applied to a server', async () => {
    await cli.json('firewall', 'create', 'used', '--server', 'web-1');
    assert.equal((await cli('firewall', 'delete', 'used', '--yes')).code, 6);
  });
});

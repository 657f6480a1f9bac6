/** The example of cloud-init: its files are what they say, and the server that is ordered gets them. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Server, Skerry } from '@skerry/sdk';
import { parse } from 'yaml';
import { parseId } from '../../src/kernel/ids.ts';
import { LIMITS } from '../../src/spec/limits.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { createApiToken } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';
import { addSshKey, EXAMPLES, PUBLIC_KEY, runExample } from './example-process.ts';

const FOLDER = join(EXAMPLES, 'cloud-init');
const CLI = fileURLToPath(new URL('../../packages/cli/bin/skerry.js', import.meta.url));
const CLOUD_CONFIG_FILES = [
  'cloud-init/cloud-init.yaml',
  'cloud-init/encrypted-volume.yaml',
  'ci-runners/runner.yaml',
];

/** What of cloud-init's own words they use. */
interface CloudConfig {
  readonly packages: readonly string[];
  readonly users?: readonly { readonly name: string }[];
  readonly write_files: readonly {
    readonly path: string;
    readonly content: string;
    readonly permissions?: string;
  }[];
  readonly runcmd: readonly string[];
}

describe('a file for cloud-init', () => {
  for (const path of CLOUD_CONFIG_FILES) {
    it(`${path} begins as cloud-init asks, parses, and fits`, () => {
      const text = readFileSync(join(EXAMPLES, path), 'utf8');
      assert.match(text, /^#cloud-config\n/);
      assert.ok(Buffer.byteLength(text) <= LIMITS.userDataMaxBytes);
      const config = parse(text) as CloudConfig;
      for (const file of config.write_files) {
        assert.match(file.path, /^\//);
        assert.match(file.content, /\n$/);
        assert.match(file.permissions ?? '0644', /^0[0-7]{3}$/);
      }
      // A command with a colon in it would have become a mapping.
      for (const command of config.runcmd) assert.equal(typeof command, 'string');
      assert.ok(config.packages.length > 0);
    });
  }

  it('of an encrypted volume holds a script that is one, and one place for a key, which is none', () => {
    const text = readFileSync(join(FOLDER, 'encrypted-volume.yaml'), 'utf8');
    const files = (parse(text) as CloudConfig).write_files;
    const contentOf = (end: string) => files.find(({ path }) => path.endsWith(end))?.content ?? '';
    execFileSync('sh', ['-n'], { input: contentOf('/open-data') });
    assert.equal(text.split('YOUR-KEY').length, 2, 'the README puts the key in its place');
    const least = Number(/-lt (\d+)/.exec(contentOf('/open-data'))?.[1]);
    assert.ok(contentOf('/data.key').length < least && least <= Buffer.alloc(32).toString('base64').length);
  });

  it('of the web server opens what it serves, and no more', () => {
    const config = parse(readFileSync(join(FOLDER, 'cloud-init.yaml'), 'utf8')) as CloudConfig;
    const rules = config.write_files.find(({ path }) => path === '/etc/nftables.conf')?.content ?? '';
    assert.match(rules, /policy drop;/);
    assert.deepEqual(
      rules.match(/^\s*(?:tcp|udp) .*$/gm)?.map((line) => line.trim()),
      ['tcp dport { 22, 80, 443 } accept', 'udp dport 443 accept'],
    );
  });
});

it('the file to apply names files that are there, and servers and keys of its own', () => {
  const file = parse(readFileSync(join(FOLDER, 'web.yaml'), 'utf8'));
  const [keys, servers] = [file.ssh_keys, file.servers].map((items) =>
    items.map((item: { name: string }) => item.name),
  );
  for (const server of file.servers) {
    assert.ok(existsSync(join(FOLDER, server.user_data_file)));
    assert.deepEqual(server.ssh_keys, keys);
  }
  assert.deepEqual(file.firewall_groups[0].servers, servers);
});

const FILE_SHA256 = createHash('sha256')
  .update(readFileSync(join(FOLDER, 'cloud-init.yaml')))
  .digest('hex');

/** SHA-256 of the user data that the machine got. */
async function installedUserDataHash(world: World, { id }: Server): Promise<string | null | undefined> {
  const machines = await world.simulator.machines();
  return machines.find((machine) => machine.id === parseId('server', id))?.installed.userDataSha256;
}

it('the script orders one server, hands it the file, and orders no other', FULL_ONLY, async () => {
  const world = await startWorld({ SKERRY_RATE_CAPACITY: '1000' });
  try {
    const token = await createApiToken(await world.customer(30), 'write');
    const env = { SKERRY_API_URL: world.url, SKERRY_TOKEN: token };
    const skerry = new Skerry({ baseUrl: world.url, token });
    const keyless = await runExample('cloud-init/order.ts', [], env);
    assert.equal(keyless.code, 1);
    assert.match(keyless.output, /has no SSH key/);
    const key = await addSshKey(skerry);

    const first = await runExample('cloud-init/order.ts', ['--ssh-key', 'laptop'], env);
    assert.equal(first.code, 0, first.output);
    const [server, ...others] = await skerry.servers.list().all();
    assert.ok(server && others.length === 0);
    assert.deepEqual([server.name, server.status, server.ssh_keys], ['web-1', 'running', [key]]);
    assert.match(first.output, /s1 in par for one month, \$7\.35 from/);
    assert.ok(first.output.includes(`ssh deploy@${server.ipv4?.address}`), first.output);
    assert.equal(await installedUserDataHash(world, server), FILE_SHA256);

    const second = await runExample('cloud-init/order.ts', ['--ssh-key', 'laptop'], env);
    assert.equal(second.code, 0, second.output);
    assert.match(second.output, /nothing was ordered/);
    assert.equal((await skerry.servers.list().all()).length, 1);

    const refused = await runExample('cloud-init/order.ts', ['--name', 'web-2', '--plan', 'r3'], env);
    assert.equal(refused.code, 1);
    assert.match(refused.output, /insufficient_balance.*req_/s);
  } finally {
    await world.close();
  }
});

it('the command line and the applied file hand it over, too, as the README says', FULL_ONLY, async () => {
  const world = await startWorld({ SKERRY_RATE_CAPACITY: '1000' });
  const folder = mkdtempSync(join(tmpdir(), 'skerry-copied-'));
  try {
    cpSync(FOLDER, folder, { recursive: true });
    writeFileSync(join(folder, 'id_ed25519.pub'), `${PUBLIC_KEY}\n`);
    const readme = readFileSync(join(FOLDER, 'README.md'), 'utf8').replaceAll(/\\\n\s*/g, '');
    const line = (begin: string) =>
      readme.split('\n').find((one) => one.startsWith(begin)) ?? assert.fail(begin);
    for (const [begin, ...extra] of [['skerry server create'], ['skerry apply', '--yes']] as const) {
      const token = await createApiToken(await world.customer(30), 'write');
      const skerry = new Skerry({ baseUrl: world.url, token });
      const env = {
        PATH: process.env.PATH,
        SKERRY_API_URL: world.url,
        SKERRY_TOKEN: token,
        SKERRY_CONFIG: join(folder, 'c'),
      };
      const type = async (typed: string) => {
        const [, ...words] = typed.split(/\s+/);
        await promisify(execFile)(process.execPath, [CLI, ...words], { cwd: folder, env });
      };
      await type('skerry ssh-key create --name laptop --public-key-file id_ed25519.pub');
      const command = [line(begin), ...extra].join(' ');
      await type(command);
      const [server, ...others] = await skerry.servers.list().all();
      assert.ok(server && others.length === 0);
      assert.deepEqual([server.name, server.status, server.labels.role], ['web-1', 'running', 'web']);
      assert.equal(await installedUserDataHash(world, server), FILE_SHA256);
      if (begin === 'skerry apply') {
        const groups = await skerry.firewallGroups.list().all();
        assert.deepEqual(
          groups.map(({ name, applied_to, rules }) => [name, applied_to, rules.length]),
          [['web', [server.id], 6]],
        );
        await type(command);
        assert.deepEqual(await skerry.servers.list().all(), [server]);
        assert.deepEqual(await skerry.firewallGroups.list().all(), groups);
      }
    }
  } finally {
    await world.close();
    rmSync(folder, { recursive: true });
  }
});

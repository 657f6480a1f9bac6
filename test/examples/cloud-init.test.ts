/** The cloud-init example: its files are valid, and an ordered server receives them. */
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

/** The cloud-init fields that the example uses. */
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

describe('a cloud-init file of the examples', () => {
  for (const path of CLOUD_CONFIG_FILES) {
    it(`${path} has the cloud-config header, parses, and is small enough`, () => {
      const text = readFileSync(join(EXAMPLES, path), 'utf8');
      assert.match(text, /^#cloud-config\n/);
      assert.ok(Buffer.byteLength(text) <= LIMITS.userDataMaxBytes);
      const config = parse(text) as CloudConfig;
      for (const file of config.write_files) {
        assert.match(file.path, /^\//);
        assert.match(file.content, /\n$/);
        assert.match(file.permissions ?? '0644', /^0[0-7]{3}$/);
      }
      // An unquoted command with a colon would parse as a mapping.
      for (const command of config.runcmd) assert.equal(typeof command, 'string');
      assert.ok(config.packages.length > 0);
    });
  }

  it('for an encrypted volume contains a valid script and one placeholder for the key', () => {
    const text = readFileSync(join(FOLDER, 'encrypted-volume.yaml'), 'utf8');
    const files = (parse(text) as CloudConfig).write_files;
    const contentOf = (end: string) => files.find(({ path }) => path.endsWith(end))?.content ?? '';
    execFileSync('sh', ['-n'], { input: contentOf('/open-data') });
    assert.equal(text.split('YOUR-KEY').length, 2, 'the file has one placeholder, which the README replaces');
    const minLength = Number(/-lt (\d+)/.exec(contentOf('/open-data'))?.[1]);
    const keyLength = Buffer.alloc(32).toString('base64').length;
    assert.ok(contentOf('/data.key').length < minLength && minLength <= keyLength);
  });

  it('for the web server opens only the ports that it serves', () => {
    const config = parse(readFileSync(join(FOLDER, 'cloud-init.yaml'), 'utf8')) as CloudConfig;
    const rules = config.write_files.find(({ path }) => path === '/etc/nftables.conf')?.content ?? '';
    assert.match(rules, /policy drop;/);
    assert.deepEqual(
      rules.match(/^\s*(?:tcp|udp) .*$/gm)?.map((line) => line.trim()),
      ['tcp dport { 22, 80, 443 } accept', 'udp dport 443 accept'],
    );
  });
});

it('the apply file refers to existing files, and to its own servers and keys', () => {
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

/** Returns the SHA-256 of the user data that the machine was installed with. */
async function installedUserDataHash(world: World, { id }: Server): Promise<string | null | undefined> {
  const machines = await world.simulator.machines();
  return machines.find((machine) => machine.id === parseId('server', id))?.installed.userDataSha256;
}

it('the order script creates one server with the cloud-init file, and no second one', FULL_ONLY, async () => {
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

    const tooExpensive = await runExample('cloud-init/order.ts', ['--name', 'web-2', '--plan', 'r3'], env);
    assert.equal(tooExpensive.code, 1);
    assert.match(tooExpensive.output, /insufficient_balance.*req_/s);
  } finally {
    await world.close();
  }
});

it('the CLI and the apply file pass the cloud-init file as the README describes', FULL_ONLY, async () => {
  const world = await startWorld({ SKERRY_RATE_CAPACITY: '1000' });
  const folder = mkdtempSync(join(tmpdir(), 'skerry-copied-'));
  try {
    cpSync(FOLDER, folder, { recursive: true });
    writeFileSync(join(folder, 'id_ed25519.pub'), `${PUBLIC_KEY}\n`);
    const readme = readFileSync(join(FOLDER, 'README.md'), 'utf8').replaceAll(/\\\n\s*/g, '');
    const lineStartingWith = (start: string) =>
      readme.split('\n').find((text) => text.startsWith(start)) ?? assert.fail(start);
    for (const [start, ...extra] of [['skerry server create'], ['skerry apply', '--yes']] as const) {
      const token = await createApiToken(await world.customer(30), 'write');
      const skerry = new Skerry({ baseUrl: world.url, token });
      const env = {
        PATH: process.env.PATH,
        SKERRY_API_URL: world.url,
        SKERRY_TOKEN: token,
        SKERRY_CONFIG: join(folder, 'c'),
      };
      const run = async (command: string) => {
        const [, ...words] = command.split(/\s+/);
        await promisify(execFile)(process.execPath, [CLI, ...words], { cwd: folder, env });
      };
      await run('skerry ssh-key create --name laptop --public-key-file id_ed25519.pub');
      const command = [lineStartingWith(start), ...extra].join(' ');
      await run(command);
      const [server, ...others] = await skerry.servers.list().all();
      assert.ok(server && others.length === 0);
      assert.deepEqual([server.name, server.status, server.labels.role], ['web-1', 'running', 'web']);
      assert.equal(await installedUserDataHash(world, server), FILE_SHA256);
      if (start === 'skerry apply') {
        const groups = await skerry.firewallGroups.list().all();
        assert.deepEqual(
          groups.map(({ name, applied_to, rules }) => [name, applied_to, rules.length]),
          [['web', [server.id], 6]],
        );
        await run(command);
        assert.deepEqual(await skerry.servers.list().all(), [server]);
        assert.deepEqual(await skerry.firewallGroups.list().all(), groups);
      }
    }
  } finally {
    await world.close();
    rmSync(folder, { recursive: true });
  }
});

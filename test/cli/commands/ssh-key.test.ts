import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readPublicKey } from '../../../packages/cli/src/commands/ssh-key.ts';
import { NO_RATES, PUBLIC_KEY } from '../../http/v1/contract/estate.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';
import { createApiToken } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { type Cli, createCli, runProgram } from '../support/run-cli.ts';

const PRIVATE = [
  '-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----\n',
  '-----BEGIN RSA PRIVATE KEY-----\nc2VjcmV0\n',
  '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n',
  'PuTTY-User-Key-File-3: ssh-ed25519\nc2VjcmV0\n',
];

const BIN = fileURLToPath(new URL('../../../packages/cli/bin/skerry.js', import.meta.url));

function fileOf(name: string, text: string): string {
  const path = join(scratchFolder(), name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const read = (given: { publicKey?: string; publicKeyFile?: string }, env = {}) =>
  readPublicKey({ publicKey: undefined, publicKeyFile: undefined, ...given }, env);

test('a private key is rejected and not repeated, from a file and from the command line', async () => {
  for (const text of PRIVATE) {
    for (const source of [{ publicKeyFile: fileOf('id', text) }, { publicKey: text }]) {
      await assert.rejects(
        read(source),
        ({ message }: Error) => /private key, which must never/.test(message) && !/c2Vj/.test(message),
      );
    }
  }
});

test('the default key file is used, ed25519 before RSA', async () => {
  const home = dirname(fileOf('profile', ''));
  await assert.rejects(read({}, { HOME: home }), /neither id_ed25519\.pub nor id_rsa\.pub/);
  mkdirSync(join(home, '.ssh'));
  writeFileSync(join(home, '.ssh/id_rsa.pub'), 'ssh-rsa AAAA old\n');
  assert.equal(await read({}, { HOME: home }), 'ssh-rsa AAAA old');
  writeFileSync(join(home, '.ssh/id_ed25519.pub'), `# mine\n${PUBLIC_KEY}\r\n`);
  assert.equal(await read({}, { HOME: home }), PUBLIC_KEY);
});

test('a file without exactly one OpenSSH public key is rejected', async () => {
  const file = (text: string) => read({ publicKeyFile: fileOf('key.pub', text) });
  await assert.rejects(file(''), /contains no key/);
  await assert.rejects(file(`${PUBLIC_KEY}\n${PUBLIC_KEY}\n`), /more than one line/);
  await assert.rejects(file('---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n'), /ssh-keygen -i/);
  await assert.rejects(file('x'.repeat(70_000)), /is too large: at most 65536 bytes/);
  await assert.rejects(read({ publicKeyFile: '/nowhere/key.pub' }), /cannot read/);
  await assert.rejects(read({ publicKey: PUBLIC_KEY, publicKeyFile: 'x' }), /cannot be combined/);
});

test('a key is read from stdin that has no data yet', async () => {
  // A parent may pass a non-blocking pipe; here, a child of ours writes into it later.
  const script =
    'import os, subprocess, sys, threading\n' +
    'r, w = os.pipe(); os.set_blocking(r, False)\n' +
    'write = lambda: (os.write(w, b"-----BEGIN OPENSSH PRIVATE KEY-----"), os.close(w))\n' +
    'threading.Timer(0.4, write).start()\n' +
    'sys.exit(subprocess.run(sys.argv[1:], stdin=r).returncode)\n';
  const words = [process.execPath, BIN, 'ssh-key', 'create', '--public-key-file', '-'];
  const { code, stderr } = await runProgram(['python3', '-c', script, ...words], {
    env: createCli({ url: 'http://127.0.0.1:9', token: 'x' }).env,
  });
  assert.deepEqual([code, /is a private key/.test(stderr)], [2, true], stderr);
});

describe('skerry ssh-key', FULL_ONLY, () => {
  let world: World;
  let cli: Cli;
  before(async () => {
    world = await startWorld(NO_RATES);
    cli = createCli({ url: world.url, token: await createApiToken(await world.customer()) });
  });
  after(() => world.close());

  it('ssh-key add reads a key from stdin and names it by its comment', async () => {
    const words = ['ssh-key', 'add', '--public-key-file', '-', '-o', 'json'];
    const { code, stdout } = await cli.with({ input: `${PUBLIC_KEY}\n` }, ...words);
    assert.deepEqual([code, JSON.parse(stdout).name], [0, 'me@laptop']);
    const { stdout: shown } = await cli('ssh-key', 'describe', 'me@laptop');
    assert.ok(shown.includes(PUBLIC_KEY));
    assert.match(shown, /Fingerprint: +SHA256:/);
  });

  it('ssh-key delete finds a key by its name and requires a confirmation', async () => {
    await cli.json('ssh-key', 'create', '--name', 'gone', '--public-key', PUBLIC_KEY);
    assert.equal((await cli('ssh-key', 'delete', 'gone')).code, 11);
    assert.equal((await cli('ssh-key', 'delete', 'gone', '--yes')).code, 0);
    assert.equal((await cli('ssh-key', 'delete', 'gone', '--yes')).code, 5);
  });
});

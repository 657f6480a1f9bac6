/**
 * The node options in the guides exist in the programs, and the units and the packet filter match the guides.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findProgram, skipUnlessInstalled } from '../support/installed-programs.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { codeBlocks, readGuide } from './docs-content.ts';
import { skipWithout } from './sample-receivers.ts';

const DEPLOY = new URL('../../deploy/', import.meta.url);
const COINS_GUIDE = ['coins', 'coin-nodes'].map((name) => readGuide(`operators/${name}`)).join('\n');
const NODES = ['bitcoind', 'litecoind', 'monerod', 'monero-wallet-rpc'] as const;
const PROGRAM_TIMEOUT_MS = 30_000;

const readDeployFile = (name: string) => readFileSync(new URL(name, DEPLOY), 'utf8');

/** All shell commands of the guides, one per line. */
const SHELL_LINES = ['coins', 'coin-nodes', 'coin-recovery', 'sweeping']
  .flatMap((guide) => codeBlocks(readGuide(`operators/${guide}`)))
  .filter(({ language }) => language === 'sh')
  .flatMap(({ text }) => text.replaceAll('\\\n', ' ').split('\n'));
const START_COMMANDS = NODES.flatMap(
  (name) => readDeployFile(`${name}.service`).match(/(?<=^ExecStart=\/usr\/local\/bin\/).+$/gm) ?? [],
);

function optionsFor(program: string): readonly string[] {
  const options = [...SHELL_LINES, ...START_COMMANDS].flatMap((line) => {
    const words = line.split(/\s+/);
    const at = words.indexOf(program);
    return at < 0 ? [] : words.slice(at + 1).filter((word) => /^--?[a-z]/.test(word));
  });
  return [...new Set(options.map((option) => option.split('=')[0] ?? ''))];
}

/** Returns the settings of a configuration file that the guide writes, as options. */
function settingsIn(file: string): readonly string[] {
  const text = codeBlocks(COINS_GUIDE).find((block) => block.text.includes(`/${file}) <<END`))?.text ?? '';
  const inside = /<<END\n([\s\S]*?)^END$/m.exec(text)?.[1] ?? '';
  return [...inside.matchAll(/^(\w+)=/gm)].map(([, name = '']) => `-${name}`);
}

function unknownOptions(program: string, options: readonly string[]): readonly string[] {
  assert.ok(options.length > 0, `${program}: the guides use no option`);
  const path = findProgram([program]) ?? assert.fail(`${program} is not installed`);
  const help = execFileSync(path, ['--help'], { encoding: 'utf8', timeout: PROGRAM_TIMEOUT_MS });
  return options.filter((option) => !new RegExp(`^ +${option}([ =]|$)`, 'm').test(help));
}

describe('node options in the guides', () => {
  // Bitcoin Core is not packaged in Debian. Litecoin Core is derived from it and has the same options.
  for (const [program, also] of [
    ['litecoind', 'bitcoind'],
    ['litecoin-cli', 'bitcoin-cli'],
    ['monerod', ''],
    ['monero-wallet-rpc', ''],
    ['monero-wallet-cli', ''],
  ] as const) {
    const skip = FULL_ONLY.skip || skipUnlessInstalled(findProgram([program]), `${program} is not installed`);
    it(`exist in ${program}`, { skip }, () => {
      assert.deepEqual(
        unknownOptions(program, [...optionsFor(program), ...(also ? optionsFor(also) : [])]),
        [],
      );
    });
  }

  const skip =
    FULL_ONLY.skip || skipUnlessInstalled(findProgram(['litecoind']), 'litecoind is not installed');
  it('exist in litecoind for the configuration files', { skip }, () => {
    for (const file of ['bitcoin.conf', 'litecoin.conf']) {
      const settings = settingsIn(file);
      assert.ok(settings.includes('-prune'), file);
      assert.deepEqual(unknownOptions('litecoind', settings), [], file);
    }
  });
});

describe('the units and the packet filter of the nodes', () => {
  it('are installed by the guide, each for the user and the folder that it creates', () => {
    const commands = SHELL_LINES.join('\n');
    const units = readdirSync(DEPLOY).filter(
      (name) => name.endsWith('.service') && !name.startsWith('skerry'),
    );
    assert.deepEqual(units.toSorted(), NODES.map((name) => `${name}.service`).toSorted());
    for (const name of NODES) {
      const text = readDeployFile(`${name}.service`);
      const unit = new Map([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, key, value]) => [key, value]));
      const user = unit.get('User') ?? '';
      const folder = `/var/lib/${unit.get('StateDirectory')}`;
      assert.match(
        commands,
        new RegExp(`^install .*deploy/${name}\\.service.* /etc/systemd/system/$`, 'm'),
        name,
      );
      assert.match(commands, new RegExp(`^systemctl enable --now ${name}$`, 'm'), name);
      assert.ok(commands.includes(`useradd --system --user-group --home-dir ${folder} `), name);
      const createFolder = `^install -d -m 0700 -o ${user} -g ${user} ${folder}( |$)`;
      assert.match(commands, new RegExp(createFolder, 'm'), name);
      for (const [path] of (unit.get('ExecStart') ?? '').matchAll(/(?<=[ =])\/var\/\S+/g)) {
        assert.ok(`${path}/`.startsWith(`${folder}/`), path);
      }
      // The nodes serve only this machine and never run as root.
      assert.notEqual(user, 'root');
      for (const [, ip] of text.matchAll(/bind-ip (\S+)/g)) assert.equal(ip, '127.0.0.1');
    }
  });

  it('close the ports that the guide lists as closed', () => {
    const sets = [...readDeployFile('nodes.nft').matchAll(/^ +tcp dport \{ ([^}]+) \} drop$/gm)].map(
      ([, set = '']) => set,
    );
    const closed = sets
      .flatMap((set) => set.split(', '))
      .flatMap((part) => {
        const [from = 0, to = from] = part.split('-').map(Number);
        return Array.from({ length: to - from + 1 }, (_, i) => from + i);
      });
    const table =
      COINS_GUIDE.slice(COINS_GUIDE.indexOf('| Node | Closed to other machines |')).split('\n\n')[0] ?? '';
    const cells = table
      .split('\n')
      .slice(2)
      .map((row) => row.split('|').map((cell) => cell.match(/\d{4,5}/g) ?? []));
    const listed = cells.flatMap(([, , ports = []]) => ports.map(Number));
    assert.ok(listed.length >= 18, listed.join(' '));
    assert.deepEqual([...new Set(listed)].toSorted(), [...new Set(closed)].toSorted());
    const open = cells.flatMap(([, , , ports = []]) => ports.map(Number));
    assert.deepEqual(
      open.filter((port) => closed.includes(port)),
      [],
    );
  });

  it('give the service a password whose hash the node has, in a file that only its owner can read', {
    skip: skipWithout('openssl', 'version'),
  }, () => {
    for (const coin of ['bitcoin', 'litecoin']) {
      const folder = mkdtempSync(join(tmpdir(), 'skerry-node-'));
      try {
        const block =
          codeBlocks(COINS_GUIDE).find(({ text }) => text.includes(`/${coin}.conf) <<END`))?.text ?? '';
        const commands = /^password=[\s\S]*?^END$/m.exec(block)?.[0] ?? assert.fail(`no file for ${coin}`);
        const script = `set -eu\n${commands.replaceAll(`/var/lib/${coin}`, folder)}\necho "$password"\n`;
        const password = execFileSync('bash', ['-c', script], {
          encoding: 'utf8',
          timeout: PROGRAM_TIMEOUT_MS,
        }).trim();
        const file = join(folder, `${coin}.conf`);
        assert.equal(statSync(file).mode & 0o777, 0o600);
        const [, salt = '', hash] = /^rpcauth=skerry:(\w+)\$(\w+)$/m.exec(readFileSync(file, 'utf8')) ?? [];
        assert.equal(hash, createHmac('sha256', salt).update(password).digest('hex'));
        const [setting] = /SKERRY_\w+_URL=http:\/\/skerry:\$password@127\.0\.0\.1:/.exec(block) ?? [];
        assert.ok(setting, coin);
      } finally {
        rmSync(folder, { recursive: true });
      }
    }
  });

  const analyze = findProgram(['systemd-analyze']);
  it('pass systemd-analyze verify', {
    skip: FULL_ONLY.skip || skipUnlessInstalled(analyze, 'systemd-analyze is not installed'),
  }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'skerry-units-'));
    try {
      const units = readdirSync(DEPLOY).filter((name) => name.endsWith('.service'));
      assert.ok(units.length >= 8);
      const files = units.map((name) => {
        const file = join(folder, name);
        writeFileSync(file, readDeployFile(name).replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true'));
        return file;
      });
      const { status, stdout, stderr } = spawnSync(analyze ?? '', ['verify', '--man=no', ...files], {
        encoding: 'utf8',
        timeout: PROGRAM_TIMEOUT_MS,
      });
      assert.deepEqual([status, stdout, stderr], [0, '', '']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

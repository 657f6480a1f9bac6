/** Machines of the docs' walk: each a folder in place of `/`, a namespace for guests, and processes. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../support/free-port.ts';
import { findProgram, skipUnlessInstalled } from '../support/installed-programs.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const WAIT_MS = 60_000;
const SYSTEM_FOLDERS = ['etc/systemd/system', 'etc/sysctl.d', 'usr/local/bin', 'var/lib', 'opt', 'stand-ins'];

const canWalk = process.getuid?.() === 0 && ['ip', 'nft'].every((name) => findProgram([name]));
export const CAN_WALK = {
  skip: skipUnlessInstalled(canWalk ? '' : null, 'needs root, nftables and iproute2'),
};

/** Programs that would change this machine. They record their calls; `git clone` links the project. */
const STAND_INS: Readonly<Record<string, string>> = {
  'apt-get': '',
  npm: '',
  sysctl: '',
  git: `mkdir -p "$3" && for each in "${PROJECT}"[!.]*; do ln -s "$each" "$3/"; done`,
  systemctl: `[ "$1" != enable ] || echo "$3" >> "$ROOT/enabled"`,
};

export class WalkWorld {
  readonly #machines: Machine[] = [];

  /** Makes an empty machine and installs Skerry on it. */
  async addMachine(name: string, install: string): Promise<Machine> {
    const machine = await Machine.create(name);
    this.#machines.push(machine);
    await machine.run(install, { cwd: machine.root });
    await machine.adaptSettings();
    return machine;
  }

  async close(): Promise<void> {
    await Promise.all(this.#machines.map((machine) => machine.close()));
  }
}

class Machine {
  readonly name: string;
  readonly root: string;
  readonly #port: number;
  readonly #peerPort: number;
  readonly #netns: string;
  readonly #children = new Set<ChildProcess>();

  private constructor(name: string, root: string, ports: readonly [number, number]) {
    this.name = name;
    this.root = root;
    [this.#port, this.#peerPort] = ports;
    this.#netns = `sk-walk-${root.slice(-6)}`;
  }

  static async create(name: string): Promise<Machine> {
    const root = await mkdtemp(join(tmpdir(), 'skerry-walk-'));
    // The database below it runs as another user.
    await chmod(root, 0o755);
    const machine = new Machine(name, root, [await freePort(), await freePort()]);
    for (const folder of SYSTEM_FOLDERS) await mkdir(join(root, folder), { recursive: true });
    for (const [program, action] of Object.entries(STAND_INS)) {
      const script = `#!/bin/bash --norc\necho "${program} $*" >> "$ROOT/calls"\n${action}\n`;
      await writeFile(join(root, 'stand-ins', program), script, { mode: 0o755 });
    }
    await promisify(execFile)('ip', ['netns', 'add', machine.#netns]);
    return machine;
  }

  /** Differs from a real machine: emulated processors, and a network apart. */
  async adaptSettings(): Promise<void> {
    const path = join(this.root, 'etc/skerry/skerryd.env');
    const settings = this.#local(await readFile(path, 'utf8'))
      .replace('ACCELERATOR=kvm', 'ACCELERATOR=tcg')
      .replace('SKERRY_PORT=8080', 'SKERRY_PORT=0');
    await writeFile(path, `${settings}\nSKERRY_QEMU_NETNS=${this.#netns}\nSKERRY_LOG_LEVEL=warn\n`);
  }

  async save(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.root, path)), { recursive: true });
    await writeFile(join(this.root, path), text);
  }

  /** Runs commands as typed, and starts the units that they enable. `mayFind` allows exit code 1. */
  async run(
    commands: string,
    { cwd = join(this.root, 'opt/skerry'), mayFind = false } = {},
  ): Promise<{ readonly stdout: string }> {
    const child = this.#spawn(['bash', '--norc', '-c', `set -eu\n${this.#local(commands)}`], cwd);
    const output = capture(child);
    const [code] = (await once(child, 'close')) as [number | null];
    assert.ok(code === 0 || (mayFind && code === 1), `${commands}: ${code} ${output.text}`);
    await this.#startEnabled();
    return { stdout: output.text };
  }

  /** Invites the host, types the printed command there, and stops it when it has joined. */
  async invite(command: string, host: Machine): Promise<void> {
    const address = `--address 127.0.0.1:${host.#port}`;
    const typed = this.#local(command).replace(/--address \S+/, address);
    const inviting = this.#spawn(['bash', '--norc', '-c', `exec ${typed}`]);
    const invited = capture(inviting);
    const isInvited = once(inviting, 'close');
    const join = await invited.match(/^ +(skerryd host join .*)$/m);
    const joining = host.#spawn(['bash', '--norc', '-c', `exec ${join} ${host.#listen}`]);
    await capture(joining).match(/(joined)/);
    assert.deepEqual(await isInvited, [0, null], invited.text);
    joining.kill('SIGINT');
    await once(joining, 'close');
  }

  async eventually(command: string, expected: RegExp): Promise<void> {
    for (const until = performance.now() + WAIT_MS; ; await pause(500)) {
      const { stdout } = await this.run(command);
      if (expected.test(stdout)) return;
      assert.ok(performance.now() < until, `${expected} does not appear: ${stdout}`);
    }
  }

  async close(): Promise<void> {
    const running = [...this.#children].map(async (child) => {
      const closed = once(child, 'close');
      child.kill('SIGTERM');
      await closed;
    });
    await Promise.all(running);
    await promisify(execFile)('ip', ['netns', 'delete', this.#netns]);
    await rm(this.root, { recursive: true, force: true });
  }

  get #listen(): string {
    return `--listen 127.0.0.1:${this.#port} --peer-listen 127.0.0.1:${this.#peerPort}`;
  }

  /** As systemd would: with the environment file, in the folder of the unit. */
  async #startEnabled(): Promise<void> {
    const file = join(this.root, 'enabled');
    const units = await readFile(file, 'utf8').catch(() => '');
    await rm(file, { force: true });
    for (const unit of units.split('\n').filter((name) => name !== '')) {
      const text = await readFile(join(this.root, `etc/systemd/system/${unit}.service`), 'utf8');
      const command = this.#local(/^ExecStart=(.*)$/m.exec(text)?.[1] ?? '');
      const listen = unit === 'skerry-host' ? this.#listen : '';
      const child = this.#spawn(['bash', '--norc', '-c', `exec ${command} ${listen}`]);
      await capture(child).match(/(ready on|listens on)/);
    }
  }

  /** Replaces paths and sizes, since this machine is smaller and in use. No terminal answers questions. */
  #local(text: string): string {
    return text
      .replace(/(?<=^|[\s='":])\/(etc|opt|var\/lib|usr\/local)(?=\/)/gm, `${this.root}/$1`)
      .replace('catalogue load', 'catalogue load --yes')
      .replace(/--ram-mb \d+/g, '--ram-mb 64')
      .replace(/--disk-gb \d+/g, '--disk-gb 1');
  }

  #spawn([program = '', ...args]: readonly string[], cwd = join(this.root, 'opt/skerry')): ChildProcess {
    const own = Object.entries(process.env).filter(([name]) => !/^(SKERRY_|NODE_|DATABASE_URL)/.test(name));
    const path = ['stand-ins', 'usr/local/bin'].map((folder) => join(this.root, folder)).join(':');
    const env = { ...Object.fromEntries(own), ROOT: this.root, PATH: `${path}:${process.env.PATH}` };
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#children.add(child);
    child.once('close', () => this.#children.delete(child));
    return child;
  }
}

/** Collects the output of a process, and waits for a text in it. */
function capture(child: ChildProcess) {
  const output = {
    text: '',
    match: async (pattern: RegExp): Promise<string> => {
      for (const until = performance.now() + WAIT_MS; ; await pause(50)) {
        const found = pattern.exec(output.text)?.[1];
        if (found !== undefined) return found;
        const isOver = child.exitCode !== null || performance.now() > until;
        assert.ok(!isOver, `no ${pattern} in: ${output.text}`);
      }
    },
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output.text += chunk.toString('utf8');
    });
  }
  return output;
}

/**
 * Real machines for tests: the driver in isolated networks, an imported tiny guest, and SSH access to guests.
 */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';
import { openQemuCompute, type QemuCompute } from '../../../../../src/drivers/compute/qemu/driver.ts';
import type { QemuOptions } from '../../../../../src/drivers/compute/qemu/host.ts';
import { QemuHost } from '../../../../../src/drivers/compute/qemu/host.ts';
import { Layout } from '../../../../../src/drivers/compute/qemu/layout.ts';
import { Qmp } from '../../../../../src/drivers/compute/qemu/qmp.ts';
import { readRecord } from '../../../../../src/drivers/compute/qemu/record.ts';
import { findVolumeNode } from '../../../../../src/drivers/compute/qemu/storage/hot-plug.ts';
import { listVolumesOf } from '../../../../../src/drivers/compute/qemu/storage/volume-record.ts';
import { createLogger } from '../../../../../src/kernel/logger.ts';
import type { BaseImage, MachineSpec } from '../../../../../src/ports/compute.ts';
import { findProgram } from '../../../../support/installed-programs.ts';
import { FULL_ONLY, IS_FULL_RUN, rotate } from '../../../../support/runs.ts';
import type { ComputeWorld } from '../../compute-world.ts';
import { isAlive, NetFixture } from './net-fixture.ts';
import { probeInbound } from './probe.ts';
import { type TinyImage, tinyImage, tinyMissing } from './tiny-image.ts';

const GIB = 1024 ** 3;
const EVENTUALLY_MAX_MS = 90_000;
const POLL_INTERVAL_MS = 100;
const PREFIX = 'skerry-qemu-';

/**
 * For tests of real machines: `describe(name, REAL_MACHINES, …)`. They are slow. With CI=true nothing is
 * skipped.
 */
export const REAL_MACHINES = {
  skip: IS_FULL_RUN ? process.env.CI !== 'true' && (missingPrograms() ?? false) : FULL_ONLY.skip,
};

/** The contract on real machines takes ten minutes. Every second full run has it, in one of two ways. */
export function contractOnRealMachines(through: 'local' | 'host') {
  const turns = ['local', 'none', 'host', 'none'] as const;
  const isTurn = rotate(turns, { sample: 1, full: 4, soak: 1 }).includes(through);
  return { skip: REAL_MACHINES.skip || (isTurn ? false : 'takes turns with other files') };
}

export interface SshOptions {
  /** Address family of the connection; 4 by default. */
  readonly family?: 4 | 6;
  /** Signs in with root's password instead of the guest key. */
  readonly password?: string;
  readonly timeoutMs?: number;
}

export interface QemuWorld extends ComputeWorld {
  readonly driver: QemuCompute;
  /** The driver's own host object: folders, locks, commands. */
  readonly host: QemuHost;
  readonly net: NetFixture;
  readonly tiny: TinyImage;
  /** The imported tiny guest, which is also the rescue system. */
  readonly base: BaseImage;
  /** OpenSSH public key of `ssh`. */
  readonly guestKey: string;
  /** Defaults for machines of this world. */
  readonly machine: Partial<MachineSpec>;
  /** Returns another driver on the same host, as another process would have it. */
  newDriver(): QemuCompute;
  /** Arguments of `ssh` for root in the guest with that IPv4 address. A command follows them. */
  sshArguments(address: string): string[];
  /**
   * Runs a command as root in the guest, from outside, and returns its output. Fails if the command fails.
   */
  ssh(machineId: string, command: string, options?: SshOptions): Promise<string>;
  /** Retries until it succeeds, since a guest takes some seconds to boot. */
  sshWithRetry(machineId: string, command: string, options?: SshOptions): Promise<string>;
}

export async function qemuWorld(wanted: Partial<QemuOptions> = {}): Promise<QemuWorld> {
  await removeStaleWorlds();
  const net = await NetFixture.open();
  const dir = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const options: QemuOptions = {
    dir: dataDir(dir),
    hosts: ['one', 'two'],
    accelerator: 'tcg',
    netns: net.router,
    log: createLogger('silent'),
    ...wanted,
  };
  const driver = openQemuCompute(options);
  const host = new QemuHost(options);
  const close = async () => {
    for (const id of await driver.list().catch(() => [])) await driver.remove(id).catch(() => undefined);
    await removeFolder(dir);
    await net.close();
  };
  try {
    const tiny = await tinyImage();
    const base = await driver.images.add(tiny.disk, { sha256: null });
    await driver.images.setRescue(base.sha256);
    const access = await guestAccess(dir);
    const image = {
      id: 'img_tiny',
      family: 'tiny',
      version: '1',
      cloudInit: true,
      iso: null,
      base: base.sha256,
    };
    const machine = { ramMb: 128, sshKeys: [access.guestKey], image };
    const ssh: QemuWorld['ssh'] = (id, command, how = {}) =>
      signIn({ host, net, access }, id, { command, ...how });
    return {
      ...{ driver, host, net, tiny, base, machine, ssh, close, eventually },
      guestKey: access.guestKey,
      sshArguments: (address) => [...SSH_ARGS, ...keyOptions(access), '-b', SSH_FROM, `root@${address}`],
      hosts: [options.hosts[0] ?? assert.fail('no host'), options.hosts[1] ?? 'none'],
      now: () => new Date(),
      newDriver: () => openQemuCompute(options),
      attached: (machineId) => attached(host, machineId),
      packetVerdict: async (machineId, packet) => {
        const { ipv4, ipv6 } = await specOf(host, machineId);
        const { address } = packet.remote.includes(':') ? ipv6 : ipv4;
        return await probeInbound(net, packet, { address, tap: host.tap(machineId) });
      },
      sshWithRetry: async (...words) => {
        let said = '';
        await eventually(async () => {
          said = await ssh(...words);
          return true;
        });
        return said;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Treats an error as "not yet". After the timeout, the last error is thrown. */
async function eventually(reached: () => Promise<boolean>): Promise<void> {
  const until = Date.now() + EVENTUALLY_MAX_MS;
  for (;;) {
    const last = Date.now() > until;
    try {
      if (await reached()) return;
    } catch (error) {
      if (last) throw error;
    }
    if (last) assert.fail(`the condition was not met within ${EVENTUALLY_MAX_MS / 1000} s`);
    await pause(POLL_INTERVAL_MS);
  }
}

async function specOf(host: QemuHost, machineId: string) {
  const record = await readRecord(host.layout, machineId);
  return record?.spec ?? assert.fail(`machine ${machineId} not found`);
}

/** For a running machine, returns only the volumes that its QEMU really has. */
async function attached(host: QemuHost, machineId: string): ReturnType<ComputeWorld['attached']> {
  const volumes = await listVolumesOf(host, machineId);
  const qmp = await Qmp.open(host.layout.runtimeFile(machineId, 'qmp'));
  try {
    const seen = await Promise.all(
      volumes.map(async ({ id, sizeGb, device }) => {
        const node = qmp && (await findVolumeNode(qmp, id));
        if (device === null || (qmp && !node)) return [];
        return [{ id, device, sizeGb: node ? node.image['virtual-size'] / GIB : sizeGb }];
      }),
    );
    return seen.flat();
  } finally {
    qmp?.close();
  }
}

interface GuestAccess {
  readonly guestKey: string;
  readonly keyFile: string;
  /** A program that prints the password from its environment. */
  readonly askFile: string;
}

async function guestAccess(dir: string): Promise<GuestAccess> {
  const keyFile = join(dir, 'guest-key');
  const askFile = join(dir, 'ask');
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'guest', '-f', keyFile]);
  await writeFile(askFile, '#!/bin/sh\nprintf "%s\\n" "$GUEST_PASSWORD"\n', { mode: 0o700 });
  return { keyFile, askFile, guestKey: (await readFile(`${keyFile}.pub`, 'utf8')).trim() };
}

const SSH_ARGS = [
  ...['-F', 'none', '-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null'],
  ...[
    '-o',
    'LogLevel=ERROR',
    '-o',
    'ConnectTimeout=5',
    '-o',
    'IdentitiesOnly=yes',
    '-o',
    'IdentityAgent=none',
  ],
];

const SSH_FROM = '198.51.100.7';

function keyOptions({ keyFile }: GuestAccess): string[] {
  return ['-o', 'BatchMode=yes', '-i', keyFile];
}

async function signIn(
  { host, net, access }: { readonly host: QemuHost; readonly net: NetFixture; readonly access: GuestAccess },
  machineId: string,
  { command, family = 4, password, timeoutMs }: SshOptions & { readonly command: string },
): Promise<string> {
  const { ipv4, ipv6 } = await specOf(host, machineId);
  const to = `root@${family === 4 ? ipv4.address : ipv6.address}`;
  const from = ['-b', family === 4 ? SSH_FROM : '2001:db8:ffff::9'];
  const options = timeoutMs === undefined ? {} : { timeoutMs };
  if (password === undefined) {
    return await net.runOutside('ssh', [...SSH_ARGS, ...keyOptions(access), ...from, to, command], options);
  }
  const asked = [`GUEST_PASSWORD=${password}`, `SSH_ASKPASS=${access.askFile}`, 'SSH_ASKPASS_REQUIRE=force'];
  const byPassword = ['-o', 'PubkeyAuthentication=no', '-o', 'NumberOfPasswordPrompts=1'];
  return await net.runOutside(
    'env',
    [...asked, 'ssh', ...SSH_ARGS, ...byPassword, ...from, to, command],
    options,
  );
}

const dataDir = (dir: string) => join(dir, 'data');

/** Removes folders of killed test runs. Each name contains the id of the process that created it. */
async function removeStaleWorlds(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = new RegExp(`^${PREFIX}([0-9]+)-`).exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await removeFolder(join(tmpdir(), name));
  }
}

async function removeFolder(dir: string): Promise<void> {
  const data = dataDir(dir);
  await killStaleProcesses(data);
  for (const folder of [dir, new Layout(data).runDir]) await rm(folder, { recursive: true, force: true });
}

/** Kills QEMU programs with a path in this test's folder on their command line: its driver started them. */
async function killStaleProcesses(dir: string): Promise<void> {
  for (const pid of (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name))) {
    const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (!words.startsWith('qemu-') || !words.includes(`${dir}/`)) continue;
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has already exited.
    }
  }
}

function missingPrograms(): string | null {
  const programs = ['nft', 'ip', 'nsenter', 'ssh', 'ssh-keygen', 'flock'].filter(
    (name) => !findProgram([name]),
  );
  if (programs.length > 0) return `not installed: ${programs.join(', ')}`;
  return process.getuid?.() === 0 ? tinyMissing() : 'real machines need root';
}

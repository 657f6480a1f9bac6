/**
 * A small real Ceph cluster: one monitor and one OSD, in a network namespace of its own. Hosts of guests get
 * a link to it and an address on its network, so that each can be fenced.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';
import type { CephOptions } from '../../../../../src/drivers/compute/qemu/host.ts';
import { findProgram } from '../../../../support/installed-programs.ts';

const PROGRAMS = ['ceph-mon', 'ceph-osd', 'ceph', 'rbd', 'rados', 'ceph-authtool', 'monmaptool'];
const MONITOR = '10.99.0.1:3300';
const READY_MAX_MS = 60_000;

export function cephMissing(): string | false {
  const missing = PROGRAMS.filter((name) => !findProgram([name]));
  return missing.length > 0 && `not installed: ${missing.join(', ')}`;
}

export class CephCluster {
  readonly #dir: string;
  readonly #netns: string;
  readonly #daemons: ChildProcess[] = [];
  #links = 0;

  private constructor(dir: string) {
    this.#dir = dir;
    this.#netns = `skt${process.pid}n0c`;
  }

  static async start(): Promise<CephCluster> {
    const cluster = new CephCluster(await mkdtemp(join(tmpdir(), 'skerry-ceph-')));
    try {
      await cluster.#createNetwork();
      await cluster.#createMonitor();
      await cluster.#createOsd();
      return cluster;
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  /** The settings of a host, with a user that may use only the pool. */
  get options(): CephOptions {
    const keyFile = join(this.#dir, 'key');
    return { monitors: [MONITOR], pool: 'volumes', user: 'skerry', keyFile, networks: ['10.99.0.0/24'] };
  }

  /** Gives a namespace an address on the cluster's network, and returns the address. */
  async link(netns: string): Promise<string> {
    const number = ++this.#links;
    const address = `10.99.0.${10 + number}`;
    const near = `host${number}`;
    const peer = ['type', 'veth', 'peer', 'name', 'storage', 'netns', netns];
    await this.#ip(['link', 'add', near, ...peer]);
    await this.#ip(['link', 'set', near, 'master', 'storage', 'up']);
    await run('ip', ['-netns', netns, 'addr', 'add', `${address}/24`, 'dev', 'storage']);
    await run('ip', ['-netns', netns, 'link', 'set', 'storage', 'up']);
    return address;
  }

  /** Runs one of Ceph's programs as the cluster's administrator. */
  async admin(program: string, args: readonly string[], input = ''): Promise<string> {
    const words = [program, '-c', this.#path('ceph.conf'), ...args];
    return await run('nsenter', [`--net=/run/netns/${this.#netns}`, ...words], { input });
  }

  async close(): Promise<void> {
    for (const daemon of this.#daemons) {
      if (daemon.exitCode !== null || daemon.signalCode !== null) continue;
      daemon.kill('SIGKILL');
      await once(daemon, 'exit');
    }
    await run('ip', ['netns', 'delete', this.#netns]).catch(() => undefined);
    await rm(this.#dir, { recursive: true, force: true });
  }

  async #createNetwork(): Promise<void> {
    await run('ip', ['netns', 'add', this.#netns]);
    await this.#ip(['link', 'set', 'lo', 'up']);
    await this.#ip(['link', 'add', 'storage', 'type', 'bridge']);
    await this.#ip(['addr', 'add', '10.99.0.1/24', 'dev', 'storage']);
    await this.#ip(['link', 'set', 'storage', 'up']);
  }

  async #createMonitor(): Promise<void> {
    const fsid = randomUUID();
    await mkdir(this.#path('mon'));
    await mkdir(this.#path('osd'));
    await writeFile(this.#path('ceph.conf'), this.#config(fsid));
    const [monitorKeys, adminKeys] = [this.#path('keyring.mon.'), this.#path('keyring.client.admin')];
    const create = ['--create-keyring', '--gen-key'];
    await run('ceph-authtool', [monitorKeys, ...create, '-n', 'mon.', '--cap', 'mon', 'allow *']);
    const caps = ['mon', 'osd', 'mgr'].flatMap((kind) => ['--cap', kind, 'allow *']);
    await run('ceph-authtool', [adminKeys, ...create, '-n', 'client.admin', ...caps]);
    await run('ceph-authtool', [monitorKeys, '--import-keyring', adminKeys]);
    const map = this.#path('monmap');
    await run('monmaptool', ['--create', '--fsid', fsid, '--addv', 'a', `[v2:${MONITOR}]`, map]);
    await this.admin('ceph-mon', ['--mkfs', '-i', 'a', '--monmap', map, '--keyring', monitorKeys]);
    this.#startDaemon('ceph-mon', 'a');
  }

  async #createOsd(): Promise<void> {
    const uuid = randomUUID();
    const key = (await run('ceph-authtool', ['--gen-print-key'])).trim();
    await this.admin('ceph', ['osd', 'new', uuid, '-i', '-'], JSON.stringify({ cephx_secret: key }));
    const keyring = this.#path('keyring.osd.0');
    await run('ceph-authtool', [keyring, '--create-keyring', '--name', 'osd.0', '--add-key', key]);
    await this.admin('ceph-osd', ['-i', '0', '--mkfs', '--osd-uuid', uuid]);
    this.#startDaemon('ceph-osd', '0');
    const { pool, user, keyFile } = this.options;
    await this.admin('ceph', ['osd', 'pool', 'create', pool, '8', '8']);
    await this.admin('ceph', ['osd', 'pool', 'application', 'enable', pool, 'rbd']);
    const caps = ['mon', 'profile rbd', 'osd', `profile rbd pool=${pool}`];
    await this.admin('ceph', ['auth', 'get-or-create', `client.${user}`, ...caps]);
    await writeFile(keyFile, await this.admin('ceph', ['auth', 'print-key', `client.${user}`]), {
      mode: 0o600,
    });
    const until = Date.now() + READY_MAX_MS;
    while (!(await this.admin('ceph', ['osd', 'stat'])).includes('1 up')) {
      assert.ok(Date.now() < until, 'the OSD did not start');
      await pause(100);
    }
  }

  #startDaemon(program: string, id: string): void {
    const words = [`--net=/run/netns/${this.#netns}`, program, '-f', '-i', id];
    const daemon = spawn('nsenter', [...words, '-c', this.#path('ceph.conf')], { stdio: 'ignore' });
    this.#daemons.push(daemon);
  }

  /** Everything below one folder, and one copy of each object. */
  #config(fsid: string): string {
    return [
      '[global]',
      `fsid = ${fsid}`,
      `mon_host = [v2:${MONITOR}]`,
      'auth_cluster_required = cephx',
      'auth_service_required = cephx',
      'auth_client_required = cephx',
      'auth_allow_insecure_global_id_reclaim = false',
      'public_network = 10.99.0.0/24',
      'osd_pool_default_size = 1',
      'osd_pool_default_min_size = 1',
      'osd_pool_default_pg_autoscale_mode = off',
      'mon_allow_pool_size_one = true',
      'mon_warn_on_pool_no_redundancy = false',
      'mon_data_avail_warn = 1',
      'osd_crush_chooseleaf_type = 0',
      'bluestore_block_size = 2147483648',
      'osd_memory_target = 939524096',
      `mon_data = ${this.#path('mon')}`,
      `osd_data = ${this.#path('osd')}`,
      `run_dir = ${this.#dir}`,
      `admin_socket = ${this.#path('$name.asok')}`,
      `log_file = ${this.#path('$name.log')}`,
      `crash_dir = ${this.#path('crash')}`,
      `keyring = ${this.#path('keyring.$name')}`,
      '',
    ].join('\n');
  }

  async #ip(args: readonly string[]): Promise<void> {
    await run('ip', ['-netns', this.#netns, ...args]);
  }

  #path(file: string): string {
    return join(this.#dir, file);
  }
}

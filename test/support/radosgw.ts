/**
 * A real S3 server on loopback: Ceph's radosgw over one monitor and one OSD that keeps its objects in memory.
 * It has one user and an empty bucket.
 */

import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  AbortMultipartUploadCommand,
  CreateBucketCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import { freePort } from './free-port.ts';
import { findProgram, skipUnlessInstalled } from './installed-programs.ts';

const PROGRAMS = ['ceph', 'ceph-mon', 'ceph-osd', 'monmaptool', 'radosgw', 'radosgw-admin'];
const READY_TIMEOUT_MS = 60_000;
const POLL_INTERVAL_MS = 50;
const run = promisify(execFile);

/** The reason to skip tests that need it, or false. */
export const NO_RADOSGW = skipUnlessInstalled(
  PROGRAMS.every((name) => findProgram([name])) ? 'radosgw' : null,
  'radosgw, ceph-mon, ceph-osd, or ceph-common is not installed',
);

export class Radosgw {
  readonly bucket = 'files';
  readonly accessKey = 'KEY-OF-TESTS';
  readonly secretKey = 'a-secret-of-tests';
  readonly #dir: string;
  readonly #port: number;
  readonly #daemons: ChildProcess[] = [];
  #gateway: ChildProcess | undefined;

  private constructor(dir: string, port: number) {
    this.#dir = dir;
    this.#port = port;
  }

  static async start(): Promise<Radosgw> {
    const dir = await mkdtemp(join(tmpdir(), 'skerry-s3-'));
    const store = new Radosgw(dir, await freePort());
    try {
      await store.#createCluster();
      await store.resume();
      await store.#createBucket();
      return store;
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The settings of a service that uses it. */
  get env(): Record<string, string> {
    return {
      SKERRY_S3_URL: this.url,
      SKERRY_S3_BUCKET: this.bucket,
      SKERRY_S3_ACCESS_KEY: this.accessKey,
      SKERRY_S3_SECRET_KEY: this.secretKey,
    };
  }

  /** A client to look at what is stored, and to damage it. */
  client(): S3Client {
    return new S3Client({
      endpoint: this.url,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: { accessKeyId: this.accessKey, secretAccessKey: this.secretKey },
      requestChecksumCalculation: 'WHEN_REQUIRED',
    });
  }

  /** Lists the names of all objects, and of those whose upload is unfinished. */
  async list(): Promise<string[]> {
    const client = this.client();
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: this.bucket }));
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: this.bucket }));
    client.destroy();
    return [...Contents.map(({ Key = '' }) => Key), ...Uploads.map(({ Key = '' }) => `unfinished ${Key}`)];
  }

  /** Deletes all objects, and ends all uploads. */
  async empty(): Promise<void> {
    const client = this.client();
    const Bucket = this.bucket;
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
    for (const { Key } of Contents) await client.send(new DeleteObjectCommand({ Bucket, Key }));
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
    for (const { Key, UploadId } of Uploads)
      await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
    client.destroy();
  }

  /** Stops the gateway. What it stored stays. */
  async stop(): Promise<void> {
    await end(this.#gateway);
    this.#gateway = undefined;
  }

  /** Starts the gateway again, at the same address. */
  async resume(): Promise<void> {
    const gateway = this.#spawn('radosgw', ['-n', 'client.admin']);
    this.#gateway = gateway;
    await eventually(async () => {
      assert.equal(gateway.exitCode, null, 'radosgw ended');
      return await fetch(this.url).then(
        ({ ok }) => ok,
        () => false,
      );
    });
  }

  async close(): Promise<void> {
    for (const daemon of [this.#gateway, ...this.#daemons.toReversed()]) await end(daemon);
    await rm(this.#dir, { recursive: true, force: true });
  }

  async #createCluster(): Promise<void> {
    const fsid = randomUUID();
    const monitor = `v2:127.0.0.1:${await freePort()}`;
    for (const folder of ['mon', 'osd', 'rgw']) await mkdir(join(this.#dir, folder));
    await writeFile(join(this.#dir, 'ceph.conf'), this.#config(fsid, monitor));
    const map = join(this.#dir, 'monmap');
    await run('monmaptool', ['--create', '--fsid', fsid, '--addv', 'a', `[${monitor}]`, map]);
    await this.#run('ceph-mon', ['--mkfs', '-i', 'a', '--monmap', map]);
    this.#daemons.push(this.#spawn('ceph-mon', ['-i', 'a']));
    const osd = randomUUID();
    await this.#run('ceph', ['osd', 'new', osd]);
    await this.#run('ceph-osd', ['-i', '0', '--mkfs', '--osd-uuid', osd]);
    this.#daemons.push(this.#spawn('ceph-osd', ['-i', '0']));
    await eventually(async () => (await this.#run('ceph', ['osd', 'stat'])).includes('1 up'));
    const keys = ['--access-key', this.accessKey, '--secret-key', this.secretKey];
    await this.#run('radosgw-admin', ['user', 'create', '--uid=skerry', '--display-name=Skerry', ...keys]);
  }

  async #createBucket(): Promise<void> {
    const client = this.client();
    await client.send(new CreateBucketCommand({ Bucket: this.bucket }));
    client.destroy();
  }

  async #run(program: string, args: readonly string[]): Promise<string> {
    return (await run(program, ['-c', join(this.#dir, 'ceph.conf'), ...args])).stdout;
  }

  #spawn(program: string, args: readonly string[]): ChildProcess {
    return spawn(program, ['-f', '-c', join(this.#dir, 'ceph.conf'), ...args], { stdio: 'ignore' });
  }

  /** Everything is below one folder, and nothing asks who connects: it listens on loopback only. */
  #config(fsid: string, monitor: string): string {
    const settings = {
      fsid,
      mon_host: `[${monitor}]`,
      auth_cluster_required: 'none',
      auth_service_required: 'none',
      auth_client_required: 'none',
      ms_mon_client_mode: 'crc',
      ms_client_mode: 'crc',
      public_network: '127.0.0.0/8',
      osd_pool_default_size: 1,
      osd_pool_default_min_size: 1,
      osd_pool_default_pg_num: 1,
      osd_pool_default_pgp_num: 1,
      osd_pool_default_pg_autoscale_mode: 'off',
      mon_allow_pool_size_one: true,
      mon_warn_on_pool_no_redundancy: false,
      mon_max_pg_per_osd: 1_000,
      mon_data_avail_warn: 1,
      mon_data_avail_crit: 1,
      osd_crush_chooseleaf_type: 0,
      osd_objectstore: 'memstore',
      memstore_device_bytes: 1024 ** 3,
      osd_memory_target: 939_524_096,
      mon_data: join(this.#dir, 'mon'),
      osd_data: join(this.#dir, 'osd'),
      rgw_data: join(this.#dir, 'rgw'),
      run_dir: this.#dir,
      admin_socket: join(this.#dir, '$name.$pid.asok'),
      log_file: join(this.#dir, '$name.log'),
      crash_dir: join(this.#dir, 'crash'),
      rgw_frontends: `beast endpoint=127.0.0.1:${this.#port}`,
    };
    return ['[global]', ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`), ''].join(
      '\n',
    );
  }
}

async function end(daemon: ChildProcess | undefined): Promise<void> {
  if (daemon === undefined || daemon.exitCode !== null || daemon.signalCode !== null) return;
  daemon.kill('SIGKILL');
  await once(daemon, 'exit');
}

async function eventually(isTrue: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + READY_TIMEOUT_MS;
  while (!(await isTrue())) {
    assert.ok(performance.now() < until, 'the S3 server did not start');
    await pause(POLL_INTERVAL_MS);
  }
}

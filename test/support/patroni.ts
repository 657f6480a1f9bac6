/**
 * A cluster of Debian's PostgreSQL that fails over: Patroni on each node, with one etcd. Commits wait for a
 * synchronous standby. Everything listens on loopback.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { childOptions, databaseUser } from '../../src/store/embedded/child.ts';
import { freePort } from './free-port.ts';
import { findProgram, skipUnlessInstalled } from './installed-programs.ts';

const [patroni, etcd] = [findProgram(['patroni']), findProgram(['etcd'])];
const BINARIES = findBinaries();

/** The reason to skip tests that need the cluster, or false. */
export const NO_PATRONI = skipUnlessInstalled(
  patroni && etcd && BINARIES,
  'patroni, etcd and postgresql are not installed',
);

const START_TIMEOUT_MS = 90_000;
const POLL_MS = 50;
const ANSWER_TIMEOUT_MS = 2_000;
/** Seconds. The smallest that Patroni accepts, so that a test need not wait for half a minute. */
const DCS = { ttl: 20, loop_wait: 1, retry_timeout: 3, primary_start_timeout: 0 };

export interface PgNode {
  readonly name: string;
  /** Of PostgreSQL, and of Patroni's REST API. */
  readonly port: number;
  readonly restPort: number;
}

export interface Cluster {
  readonly nodes: readonly PgNode[];
  /** A URL with all hosts. */
  readonly url: string;
  /** Returns the node that Patroni calls primary, or null. */
  primary(): Promise<PgNode | null>;
  /** Waits until the primary has a synchronous standby, and every other node follows it. */
  untilHealthy(): Promise<PgNode>;
  /** Kills PostgreSQL and Patroni of a node at once. */
  kill(node: PgNode): Promise<void>;
  /** Kills PostgreSQL only. Patroni notices, and brings the node back as a standby. */
  crash(node: PgNode): Promise<void>;
  /** Starts a killed node. */
  revive(node: PgNode): Promise<void>;
  /** Asks Patroni to change the primary. */
  switchOver(from: PgNode): Promise<void>;
  close(): Promise<void>;
}

export async function startCluster(count: number): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-patroni-'));
  const user = await databaseUser();
  if (user) await chown(folder, user.uid, user.gid);
  const [clientPort, peerPort] = [await freePort(), await freePort()];
  const dcs = spawn(etcd ?? 'etcd', etcdArguments(join(folder, 'etcd'), clientPort, peerPort), {
    ...childOptions(user),
    stdio: 'ignore',
  });
  const nodes: PgNode[] = [];
  for (let n = 1; n <= count; n++)
    nodes.push({ name: `node${n}`, port: await freePort(), restPort: await freePort() });
  const running = new Map<string, ChildProcess>();
  const launch = async (node: PgNode) => {
    const file = join(folder, `${node.name}.json`);
    await writeFile(file, JSON.stringify(settings(node, folder, clientPort)));
    const child = spawn(patroni ?? 'patroni', [file], { ...childOptions(user), stdio: 'ignore' });
    running.set(node.name, child);
  };
  const crash = async ({ name }: PgNode) => {
    const file = await readFile(join(folder, name, 'postmaster.pid'), 'utf8').catch(() => '');
    const pid = Number(file.split('\n')[0]);
    if (pid > 0) killServer(pid);
  };
  const kill = async (node: PgNode) => {
    const child = running.get(node.name);
    running.delete(node.name);
    if (!child) return;
    const closed = whenClosed(child);
    child.kill('SIGKILL');
    await crash(node);
    await closed;
  };
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`);
  const cluster: Cluster = {
    nodes,
    url: `postgres://postgres@${hosts.join(',')}/postgres?target_session_attrs=read-write`,
    primary: async () => {
      const states = await Promise.all(nodes.map((node) => rest(node, 'GET', '/primary')));
      return nodes.find((_, index) => states[index] === 200) ?? null;
    },
    untilHealthy: async () => {
      for (const deadline = Date.now() + START_TIMEOUT_MS; ; await pause(POLL_MS)) {
        const found = await cluster.primary();
        const standbys = nodes.filter((node) => node !== found && running.has(node.name));
        const states = await Promise.all(standbys.map((node) => rest(node, 'GET', '/sync')));
        if (found && states.includes(200) && (await countStreaming(found)) === standbys.length) return found;
        assert.ok(Date.now() < deadline, `the cluster is not healthy; see ${folder}`);
      }
    },
    kill,
    crash,
    revive: launch,
    switchOver: async (from) => {
      // It refuses until it has seen that the standby is in sync.
      for (const deadline = Date.now() + START_TIMEOUT_MS; ; await pause(POLL_MS)) {
        const status = await rest(from, 'POST', '/switchover', { leader: from.name });
        if (status === 200 || status === 202) return;
        assert.ok(Date.now() < deadline, `switchover: ${status}`);
      }
    },
    close: async () => {
      await Promise.all(nodes.map(kill));
      const closed = whenClosed(dcs);
      dcs.kill('SIGKILL');
      await closed;
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
  try {
    for (const node of nodes)
      await mkdir(join(folder, `run-${node.name}`)).then(
        () => user && chown(join(folder, `run-${node.name}`), user.uid, user.gid),
      );
    await Promise.all(nodes.map(launch));
    await cluster.untilHealthy();
    return cluster;
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

async function whenClosed(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
}

/** The postmaster's children exit when it dies; those that hang are not worth waiting for. */
function killServer(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has exited.
  }
}

/** Returns the standbys that stream, or -1 if the server does not answer in time. */
export async function countStreaming({ port }: Pick<PgNode, 'port'>): Promise<number> {
  const client = new pg.Client({
    ...{ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' },
    ...{ connectionTimeoutMillis: ANSWER_TIMEOUT_MS, query_timeout: ANSWER_TIMEOUT_MS },
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const sql = `select 1 from pg_stat_replication where state = 'streaming'`;
    return (await client.query(sql)).rowCount ?? 0;
  } catch {
    return -1;
  } finally {
    const closed = client.end().catch(() => undefined);
    await Promise.race([closed, pause(ANSWER_TIMEOUT_MS, undefined, { ref: false })]);
  }
}

function etcdArguments(dataDir: string, clientPort: number, peerPort: number): string[] {
  const [client, peer] = [`http://127.0.0.1:${clientPort}`, `http://127.0.0.1:${peerPort}`];
  return [
    ...['--data-dir', dataDir, '--unsafe-no-fsync', '--log-level', 'error'],
    ...['--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
    ...['--initial-cluster', `default=${peer}`],
  ];
}

function settings({ name, port, restPort }: PgNode, folder: string, etcdPort: number): object {
  const address = `127.0.0.1:${port}`;
  const rest = { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` };
  return {
    scope: 'skerry',
    name,
    restapi: rest,
    etcd3: { host: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        ...DCS,
        synchronous_mode: true,
        synchronous_mode_strict: true,
        maximum_lag_on_failover: 1_048_576,
        postgresql: {
          use_pg_rewind: true,
          use_slots: true,
          parameters: { max_connections: 100, wal_keep_size: '256MB' },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
      pg_hba: [
        'host all all 127.0.0.1/32 trust',
        'local all all trust',
        'host replication all 127.0.0.1/32 trust',
      ],
    },
    postgresql: {
      listen: address,
      connect_address: address,
      data_dir: join(folder, name),
      bin_dir: BINARIES,
      pgpass: join(folder, `pgpass-${name}`),
      pg_hba: [
        'host all all 127.0.0.1/32 trust',
        'local all all trust',
        'host replication all 127.0.0.1/32 trust',
      ],
      authentication: {
        superuser: { username: 'postgres' },
        replication: { username: 'postgres' },
        rewind: { username: 'postgres' },
      },
      parameters: {
        unix_socket_directories: join(folder, `run-${name}`),
        shared_buffers: '32MB',
        log_min_messages: 'warning',
      },
    },
  };
}

async function rest({ restPort }: PgNode, method: string, path: string, body?: object): Promise<number> {
  try {
    const response = await fetch(`http://127.0.0.1:${restPort}${path}`, {
      method,
      ...(body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}),
      signal: AbortSignal.timeout(method === 'GET' ? ANSWER_TIMEOUT_MS : 30_000),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

export function findBinaries(): string | null {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  return (
    versions.map((version) => join(root, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb'))) ??
    null
  );
}

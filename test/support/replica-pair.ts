/** A primary of Debian's PostgreSQL and a streaming replica, both on loopback. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { childOptions, databaseUser, run } from '../../src/store/embedded/child.ts';
import { freePort } from './free-port.ts';
import { skipUnlessInstalled } from './installed-programs.ts';
import { findBinaries } from './patroni.ts';

const BIN = findBinaries();

/** The reason to skip tests that need the pair, or false. */
export const NO_PAIR = skipUnlessInstalled(BIN, 'postgresql is not installed');

const START_TIMEOUT_MS = 30_000;

export interface ReplicaPair {
  readonly primaryUrl: string;
  readonly replicaUrl: string;
  /** Runs SQL on the replica. */
  onReplica(sql: string): Promise<void>;
  stopReplica(): Promise<void>;
  close(): Promise<void>;
}

export async function startReplicaPair(settings: readonly string[] = []): Promise<ReplicaPair> {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-pair-'));
  const user = await databaseUser();
  if (user) await chown(folder, user.uid, user.gid);
  const [primaryPort, replicaPort] = [await freePort(), await freePort()];
  const [primary, replica] = [join(folder, 'primary'), join(folder, 'replica')];
  const execute = async (program: string, ...args: string[]) => {
    const { code, output } = await run(join(BIN ?? '', program), args, { user });
    assert.equal(code, 0, output);
  };
  const children: ChildProcess[] = [];
  const start = async (data: string, port: number) => {
    const options = [
      'listen_addresses=127.0.0.1',
      `port=${port}`,
      'fsync=off',
      'shared_buffers=32MB',
      ...settings,
    ];
    const args = ['-D', data, '-k', folder, ...options.flatMap((option) => ['-c', option])];
    const child = spawn(join(BIN ?? '', 'postgres'), args, { ...childOptions(user), stdio: 'ignore' });
    children.push(child);
    await untilAccepts(port);
    return child;
  };
  const stop = async (child: ChildProcess | undefined) => {
    if (!child || child.exitCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGQUIT');
    await closed;
  };
  const close = async () => {
    await Promise.all(children.map(stop));
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  };
  try {
    await execute('initdb', '-D', primary, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N');
    await start(primary, primaryPort);
    const from = ['-h', '127.0.0.1', '-p', String(primaryPort), '-U', 'postgres'];
    await execute('pg_basebackup', '-D', replica, ...from, '-R', '-c', 'fast', '-X', 'stream', '-N');
    await start(replica, replicaPort);
  } catch (error) {
    await close();
    throw error;
  }
  const url = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`;
  return {
    primaryUrl: url(primaryPort),
    replicaUrl: url(replicaPort),
    onReplica: (sql) => withClient(replicaPort, sql),
    stopReplica: () => stop(children[1]),
    close,
  };
}

async function untilAccepts(port: number): Promise<void> {
  for (const deadline = Date.now() + START_TIMEOUT_MS; ; await pause(50)) {
    try {
      return await withClient(port, 'select 1');
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

async function withClient(port: number, sql: string): Promise<void> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** A real PgBouncer in transaction mode on loopback, in front of the database of a test. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { childOptions, databaseUser } from '../../src/store/embedded/child.ts';
import type { createScratchDatabase } from './database.ts';
import { freePort } from './free-port.ts';
import { findProgram, skipUnlessInstalled } from './installed-programs.ts';

const program = findProgram(['pgbouncer', '../sbin/pgbouncer']);
const READY_TIMEOUT_MS = 10_000;

/** The reason to skip tests that need PgBouncer, or false. */
export const NO_PGBOUNCER = skipUnlessInstalled(program, 'pgbouncer is not installed');

export interface PgBouncer {
  /** The URL of the same database through the pooler. */
  readonly url: string;
  close(): Promise<void>;
}

type Server = Awaited<ReturnType<typeof createScratchDatabase>>['connection'];

/** `poolSize`: connections to the server, for all clients. */
export async function startPgBouncer(server: Server, poolSize: number): Promise<PgBouncer> {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-pgbouncer-'));
  const port = await freePort();
  const { host, port: serverPort, user, database, password } = server;
  const login = password === undefined ? '' : ` password=${password}`;
  const settings = [
    '[databases]',
    `${database} = host=${host} port=${serverPort} user=${user}${login}`,
    '[pgbouncer]',
    ...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir ='],
    ...['auth_type = any', 'pool_mode = transaction', `default_pool_size = ${poolSize}`],
    ...['max_client_conn = 200', 'server_reset_query =', 'log_connections = 0', 'log_disconnections = 0'],
  ];
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(file, `${settings.join('\n')}\n`);
  // It refuses root, and its user must be able to read the file.
  await chmod(folder, 0o755);
  const child = spawn(program ?? 'pgbouncer', [file], {
    ...childOptions(await databaseUser()),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  const closed = once(child, 'close');
  for (const deadline = Date.now() + READY_TIMEOUT_MS; !(await accepts(port)); await pause(25)) {
    assert.equal(child.exitCode, null, log);
    assert.ok(Date.now() < deadline, `pgbouncer does not respond: ${log}`);
  }
  return {
    url: `postgres://${user}@127.0.0.1:${port}/${database}`,
    close: async () => {
      child.kill('SIGKILL');
      await closed;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** A real PowerDNS on loopback with its own empty database, queried the way resolvers query it. */

import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { findProgram, skipUnlessInstalled } from './installed-programs.ts';

export const API_KEY = 'a-key-of-tests';
const READY_TIMEOUT_MS = 20_000;
const POLL_INTERVAL_MS = 25;

/** sbin is not in every user's PATH. */
const pdnsProgram = findProgram(['pdns_server', '../sbin/pdns_server']);
const digProgram = findProgram(['dig']);

/** The reason to skip tests that need PowerDNS, or false. */
export const NO_PDNS = skipUnlessInstalled(
  pdnsProgram && digProgram,
  'pdns_server, its SQLite backend and dig are not installed',
);

/** The backend's schema. Minimal packages ship without the file that contains it. */
const SCHEMA = `
create table domains (id integer primary key, name text not null collate nocase, master text, last_check int,
  type text not null, notified_serial int, account text, options text, catalog text);
create unique index domains_by_name on domains (name);
create table records (id integer primary key, domain_id int references domains on delete cascade, name text,
  type text, content text, ttl int, prio int, disabled boolean default 0, ordername text,
  auth bool default 1);
create index records_by_name on records (domain_id, name, type);
create table comments (id integer primary key, domain_id int not null, name text not null, type text not null,
  modified_at int not null, account text, comment text not null);
create table domainmetadata (id integer primary key, domain_id int not null, kind text collate nocase,
  content text);
create table cryptokeys (id integer primary key, domain_id int not null, flags int not null, active bool,
  published bool default 1, content text);
create table tsigkeys (id integer primary key, name text collate nocase, algorithm text collate nocase,
  secret text);
create table supermasters (ip text not null, nameserver text not null collate nocase,
  account text not null);`;

const CREATE_DATABASE_SCRIPT = `const { DatabaseSync } = require('node:sqlite');
new DatabaseSync(process.argv[1]).exec(process.argv[2]);`;

export interface Pdns {
  readonly url: string;
  readonly key: string;
  /** Returns the names of an address, as a resolver sees them. */
  lookUp(address: string): Promise<string[]>;
  /** Calls its API and returns the status. */
  api(method: string, path: string, body?: object): Promise<number>;
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function startPdns(): Promise<Pdns> {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-pdns-'));
  const database = join(folder, 'names.sqlite3');
  await promisify(execFile)(process.execPath, [
    '--no-warnings',
    '-e',
    CREATE_DATABASE_SCRIPT,
    database,
    SCHEMA,
  ]);
  const [dnsPort, httpPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${httpPort}`;
  const api = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${url}/api/v1/servers/localhost${path}`, {
      method,
      headers: { 'x-api-key': API_KEY },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    await response.arrayBuffer();
    return response.status;
  };
  let child: ChildProcess | null = null;
  const stop = async () => {
    if (!child) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
    child = null;
  };
  const start = async () => {
    child = launch(folder, database, { dnsPort, httpPort });
    await waitUntilReady(child, () => api('GET', ''));
  };
  await start();
  return {
    url,
    key: API_KEY,
    lookUp: async (address) => {
      const args = ['+short', '+time=5', '+tries=2', '-p', `${dnsPort}`, '@127.0.0.1', '-x', address];
      const { stdout } = await promisify(execFile)(digProgram ?? 'dig', args);
      return stdout.split('\n').filter((line) => line !== '');
    },
    api,
    stop,
    start,
    close: async () => {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function launch(
  folder: string,
  database: string,
  ports: { dnsPort: number; httpPort: number },
): ChildProcess {
  const settings = {
    'config-dir': folder,
    'socket-dir': folder,
    launch: 'gsqlite3',
    'gsqlite3-database': database,
    // Tests do not need durability.
    'gsqlite3-pragma-synchronous': '0',
    'local-address': '127.0.0.1',
    'local-port': ports.dnsPort,
    api: 'yes',
    'api-key': API_KEY,
    webserver: 'yes',
    'webserver-address': '127.0.0.1',
    'webserver-port': ports.httpPort,
    'write-pid': 'no',
    // Disable the version check, which queries the internet.
    'security-poll-suffix': '',
  };
  const args = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
  return spawn(pdnsProgram ?? 'pdns_server', ['--daemon=no', '--guardian=no', ...args], { stdio: 'ignore' });
}

async function waitUntilReady(child: ChildProcess, probe: () => Promise<number>): Promise<void> {
  for (const deadline = Date.now() + READY_TIMEOUT_MS; ; ) {
    if ((await probe().catch(() => 0)) === 200) return;
    assert.equal(child.exitCode, null, 'pdns_server exited');
    assert.ok(Date.now() < deadline, 'pdns_server is not responding');
    await pause(POLL_INTERVAL_MS);
  }
}

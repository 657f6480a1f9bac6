/** Generates load on a process and measures the CPU time per request. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Sql } from '../src/kernel/sql.ts';

export interface Peer {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a script in this folder that prints `ready URL`. */
export async function startPeer(script: string, args: readonly string[]): Promise<Peer> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [path, ...args], {
    // The service writes its log as usual, but nothing reads it.
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  if (!child.stdout) throw new Error('no output to read');
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      if (line.startsWith('ready ')) resolve(line.slice(6));
    });
    ended.then(() => reject(new Error(`${script} exited before it was ready`)));
  });
  return {
    url,
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

export interface RequestSpec {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Each request has an Idempotency-Key of its own. */
  readonly newKeys?: boolean;
  /** The bench fails if a response has another status. */
  readonly status: number;
}

/**
 * Returns the process's CPU microseconds per request for `count` requests from `callers` parallel callers.
 */
export async function cpuPerRequest(
  peer: Peer,
  spec: RequestSpec,
  count: number,
  callers = 16,
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  try {
    await sendRequests(peer, spec, callers * 20, callers, agent);
    const before = cpuMicros(peer.pid);
    await sendRequests(peer, spec, count, callers, agent);
    return (cpuMicros(peer.pid) - before) / count;
  } finally {
    agent.destroy();
  }
}

/** Sends `count` requests from `callers` parallel callers, each with a connection of its own. */
export async function sendMany(peer: Peer, spec: RequestSpec, count: number, callers: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  try {
    await sendRequests(peer, spec, count, callers, agent);
  } finally {
    agent.destroy();
  }
}

async function sendRequests(
  peer: Peer,
  spec: RequestSpec,
  count: number,
  callers: number,
  agent: Agent,
): Promise<void> {
  let left = count;
  const caller = async () => {
    while (left-- > 0) await sendRequest(peer, spec, agent);
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

function sendRequest(
  { url }: Peer,
  { method = 'GET', path, headers = {}, body, newKeys, status }: RequestSpec,
  agent: Agent,
): Promise<void> {
  const sentHeaders = { ...headers, ...(newKeys && { 'idempotency-key': randomUUID() }) };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { method, headers: sentHeaders, agent }, (response) => {
      if (response.statusCode !== status) reject(new Error(`${method} ${path}: ${response.statusCode}`));
      response.resume().on('end', resolve).on('error', reject);
    });
    sent.on('error', reject).end(body);
  });
}

/** Returns the CPU microseconds that all database processes have used. */
export async function databaseCpuMicros(db: Sql): Promise<number> {
  const rows = await db.rows<{ pid: number }>('select pid from pg_stat_activity where pid is not null');
  return rows.reduce((sum, { pid }) => sum + cpuMicros(pid), 0);
}

/** Returns user and system time of a process. The kernel counts in ticks of 10 ms. */
export function cpuMicros(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

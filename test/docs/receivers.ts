/** The receivers that the guide shows, started as the guide says, and what is posted to them. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.ts';

export const SAMPLES = fileURLToPath(new URL('../../docs/samples/', import.meta.url));
const START_MAX_MS = 20_000;
/** Of a program that is waited for: far above any honest run, the first compilation of another language's library included. */
export const PROGRAM_LIMITS = { timeout: 5 * 60_000, killSignal: 'SIGKILL' } as const;

/** Why a test of this program is skipped, or false. */
export function missing(program: string, ...versionArgs: string[]): string | false {
  return spawnSync(program, versionArgs, PROGRAM_LIMITS).error === undefined ? false : `no ${program} here`;
}

export interface Receiver {
  readonly url: string;
  /** Lines that it printed of events. */
  lines(): string[];
  stop(): Promise<void>;
}

export async function startReceiver(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Receiver> {
  const port = await freePort();
  const [program = '', ...args] = command;
  const child = spawn(program, args, { env: { ...process.env, ...env, PORT: String(port) }, stdio: 'pipe' });
  let [printed, complaints] = ['', ''];
  child.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  child.stderr.on('data', (chunk) => {
    complaints += chunk;
  });
  const url = `${env.TLS_CERT ? 'https' : 'http'}://127.0.0.1:${port}/`;
  await listening(port, child, () => complaints);
  return {
    url,
    lines: () => printed.split('\n').filter((line) => line.startsWith('evt_')),
    stop: async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

async function listening(port: number, child: ChildProcess, complaints: () => string): Promise<void> {
  const deadline = Date.now() + START_MAX_MS;
  while (Date.now() < deadline && child.exitCode === null) {
    const { connect } = await import('node:net');
    const socket = connect(port, '127.0.0.1');
    const [event] = await Promise.race([
      once(socket, 'connect').then(() => ['connect']),
      new Promise<string[]>((resolve) => socket.once('error', () => resolve(['error']))),
    ]);
    socket.destroy();
    if (event === 'connect') return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  child.kill('SIGKILL');
  throw new Error(`a receiver did not begin to listen: ${complaints()}`);
}

export function signed(secret: string, t: number | string, body: string | Buffer): string {
  return createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex');
}

export interface Delivery {
  readonly what: string;
  readonly header: string;
  readonly body: string;
  readonly genuine: boolean;
}

const SECRET = `whsec_${'k'.repeat(52)}`;

export { SECRET };

/** Genuine ones and all kinds of others, as of now. */
export function deliveries(nowMs = Date.now()): Delivery[] {
  const now = Math.floor(nowMs / 1_000);
  const event = (n: number, note: string) =>
    JSON.stringify({ id: `evt_${n}`, object: 'event', type: 'server.running', data: { server: { note } } });
  const body = event(1, 'a „quoted“ naïve ✓ — and a line\nend');
  const good = signed(SECRET, now, body);
  const at = (t: number | string, v1 = signed(SECRET, t, body)) => `t=${t},v1=${v1}`;
  const yes = (what: string, header: string, text = body) => ({ what, header, body: text, genuine: true });
  const no = (what: string, header: string, text = body) => ({ what, header, body: text, genuine: false });
  const large = event(2, 'x'.repeat(300_000));
  return [
    yes('as it is sent', at(now)),
    yes('sent once more', at(now)),
    yes('almost too old', at(now - 280)),
    yes('almost too early', at(now + 280)),
    yes('a large one', `t=${now},v1=${signed(SECRET, now, large)}`, large),
    yes('with a line end after it', `t=${now},v1=${signed(SECRET, now, `${body}\n\n`)}`, `${body}\n\n`),
    yes('with a part that nobody knows yet', `${at(now)},v2=abc`),
    no('changed', at(now), body.replace('naïve', 'naive')),
    no('cut', at(now), body.slice(0, -1)),
    no('longer', at(now), `${body} `),
    no('of another secret', at(now, signed(`${SECRET}x`, now, body))),
    no('of the secret without its prefix', at(now, signed(SECRET.slice(6), now, body))),
    no('signed without its time', at(now, createHmac('sha256', SECRET).update(body).digest('hex'))),
    no('too old', at(now - 310)),
    no('too early', at(now + 310)),
    no('old with a new time', at(now, signed(SECRET, now - 400, body))),
    no('without a time', `v1=${good}`),
    no('without a signature', `t=${now}`),
    no('with an empty signature', `t=${now},v1=`),
    no('with half a signature', `t=${now},v1=${good.slice(0, 32)}`),
    no('with a signature that is no hex', `t=${now},v1=${'z'.repeat(64)}`),
    no('with a time that is none', `t=now,v1=${signed(SECRET, 'now', body)}`),
    no('with a negative time', `t=-${now},v1=${signed(SECRET, `-${now}`, body)}`),
    no('with nonsense', 'nonsense'),
    no('with nothing', ''),
  ];
}

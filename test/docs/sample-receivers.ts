/** The receivers that the guide shows, started as the guide says, and what is posted to them. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.ts';

export const SAMPLES_FOLDER = fileURLToPath(new URL('../../docs/samples/', import.meta.url));
const START_TIMEOUT_MS = 20_000;
/** Of a program that is waited for: far above any honest run, the first compilation of another language's library included. */
export const PROGRAM_LIMITS = { timeout: 5 * 60_000, killSignal: 'SIGKILL' } as const;

/** Why a test of this program is skipped, or false. */
export function skipWithout(program: string, ...versionArgs: string[]): string | false {
  return spawnSync(program, versionArgs, PROGRAM_LIMITS).error === undefined ? false : `no ${program} here`;
}

export interface SampleReceiver {
  readonly url: string;
  /** Lines that it printed of events. */
  eventLines(): string[];
  stop(): Promise<void>;
}

export async function startReceiver(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<SampleReceiver> {
  const port = await freePort();
  const [program = '', ...args] = command;
  const child = spawn(program, args, { env: { ...process.env, ...env, PORT: String(port) }, stdio: 'pipe' });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const url = `${env.TLS_CERT ? 'https' : 'http'}://127.0.0.1:${port}/`;
  await waitForPort(port, child, () => stderr);
  return {
    url,
    eventLines: () => stdout.split('\n').filter((line) => line.startsWith('evt_')),
    stop: async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

async function waitForPort(port: number, child: ChildProcess, stderr: () => string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
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
  throw new Error(`a receiver did not begin to listen: ${stderr()}`);
}

export function sign(secret: string, t: number | string, body: string | Buffer): string {
  return createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex');
}

export interface SampleDelivery {
  readonly what: string;
  readonly header: string;
  readonly body: string;
  readonly genuine: boolean;
}

const SECRET = `whsec_${'k'.repeat(52)}`;

export { SECRET };

/** Genuine ones and all kinds of others, as of now. */
export function sampleDeliveries(nowMs = Date.now()): SampleDelivery[] {
  const now = Math.floor(nowMs / 1_000);
  const event = (n: number, note: string) =>
    JSON.stringify({ id: `evt_${n}`, object: 'event', type: 'server.running', data: { server: { note } } });
  const body = event(1, 'a „quoted“ naïve ✓ — and a line\nend');
  const signature = sign(SECRET, now, body);
  const at = (t: number | string, v1 = sign(SECRET, t, body)) => `t=${t},v1=${v1}`;
  const genuine = (what: string, header: string, text = body) => ({
    what,
    header,
    body: text,
    genuine: true,
  });
  const forged = (what: string, header: string, text = body) => ({
    what,
    header,
    body: text,
    genuine: false,
  });
  const large = event(2, 'x'.repeat(300_000));
  return [
    genuine('as it is sent', at(now)),
    genuine('sent once more', at(now)),
    genuine('almost too old', at(now - 280)),
    genuine('almost too early', at(now + 280)),
    genuine('a large one', `t=${now},v1=${sign(SECRET, now, large)}`, large),
    genuine('with a line end after it', `t=${now},v1=${sign(SECRET, now, `${body}\n\n`)}`, `${body}\n\n`),
    genuine('with a part that nobody knows yet', `${at(now)},v2=abc`),
    forged('changed', at(now), body.replace('naïve', 'naive')),
    forged('cut', at(now), body.slice(0, -1)),
    forged('longer', at(now), `${body} `),
    forged('of another secret', at(now, sign(`${SECRET}x`, now, body))),
    forged('of the secret without its prefix', at(now, sign(SECRET.slice(6), now, body))),
    forged('signed without its time', at(now, createHmac('sha256', SECRET).update(body).digest('hex'))),
    forged('too old', at(now - 310)),
    forged('too early', at(now + 310)),
    forged('old with a new time', at(now, sign(SECRET, now - 400, body))),
    forged('without a time', `v1=${signature}`),
    forged('without a signature', `t=${now}`),
    forged('with an empty signature', `t=${now},v1=`),
    forged('with half a signature', `t=${now},v1=${signature.slice(0, 32)}`),
    forged('with a signature that is no hex', `t=${now},v1=${'z'.repeat(64)}`),
    forged('with a time that is none', `t=now,v1=${sign(SECRET, 'now', body)}`),
    forged('with a negative time', `t=-${now},v1=${sign(SECRET, `-${now}`, body)}`),
    forged('with nonsense', 'nonsense'),
    forged('with nothing', ''),
  ];
}

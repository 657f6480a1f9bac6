/** The webhook receivers of the guide, started as the guide describes, and deliveries to post to them. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.ts';

export const SAMPLES_FOLDER = fileURLToPath(new URL('../../docs/samples/', import.meta.url));
const START_TIMEOUT_MS = 20_000;
/** Far above any normal run time, including a first compilation with the standard library. */
export const PROGRAM_LIMITS = { timeout: 5 * 60_000, killSignal: 'SIGKILL' } as const;

/** Returns the reason to skip tests that need this program, or false. */
export function skipWithout(program: string, ...versionArgs: string[]): string | false {
  const isMissing = spawnSync(program, versionArgs, PROGRAM_LIMITS).error !== undefined;
  return isMissing && `${program} is not installed`;
}

export interface SampleReceiver {
  readonly url: string;
  /** Returns the printed lines that report events. */
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
  throw new Error(`the receiver does not listen: ${stderr()}`);
}

export function sign(secret: string, t: number | string, body: string | Buffer): string {
  return createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex');
}

export interface SampleDelivery {
  readonly name: string;
  readonly header: string;
  readonly body: string;
  readonly genuine: boolean;
}

const SECRET = `whsec_${'k'.repeat(52)}`;

export { SECRET };

/** Returns genuine deliveries and every kind of forgery, with current timestamps. */
export function sampleDeliveries(nowMs = Date.now()): SampleDelivery[] {
  const now = Math.floor(nowMs / 1_000);
  const event = (n: number, note: string) =>
    JSON.stringify({ id: `evt_${n}`, object: 'event', type: 'server.running', data: { server: { note } } });
  const body = event(1, 'a „quoted“ naïve ✓ — and a line\nend');
  const signature = sign(SECRET, now, body);
  const at = (t: number | string, v1 = sign(SECRET, t, body)) => `t=${t},v1=${v1}`;
  const genuine = (name: string, header: string, text = body) => ({
    ...{ name, header },
    body: text,
    genuine: true,
  });
  const forged = (name: string, header: string, text = body) => ({
    ...{ name, header },
    body: text,
    genuine: false,
  });
  const large = event(2, 'x'.repeat(300_000));
  return [
    genuine('a delivery as sent', at(now)),
    genuine('a repeated delivery', at(now)),
    genuine('a delivery that is almost too old', at(now - 280)),
    genuine('a delivery that is almost too far in the future', at(now + 280)),
    genuine('a large delivery', `t=${now},v1=${sign(SECRET, now, large)}`, large),
    genuine('a trailing newline', `t=${now},v1=${sign(SECRET, now, `${body}\n\n`)}`, `${body}\n\n`),
    genuine('an unknown part in the header', `${at(now)},v2=abc`),
    forged('a changed body', at(now), body.replace('naïve', 'naive')),
    forged('a truncated body', at(now), body.slice(0, -1)),
    forged('an extended body', at(now), `${body} `),
    forged('a wrong secret', at(now, sign(`${SECRET}x`, now, body))),
    forged('the secret without its prefix', at(now, sign(SECRET.slice(6), now, body))),
    forged('a signature without the time', at(now, createHmac('sha256', SECRET).update(body).digest('hex'))),
    forged('a time that is too old', at(now - 310)),
    forged('a time too far in the future', at(now + 360)),
    forged('an old signature with a new time', at(now, sign(SECRET, now - 400, body))),
    forged('a header without a time', `v1=${signature}`),
    forged('a header without a signature', `t=${now}`),
    forged('an empty signature', `t=${now},v1=`),
    forged('half a signature', `t=${now},v1=${signature.slice(0, 32)}`),
    forged('a signature that is not hexadecimal', `t=${now},v1=${'z'.repeat(64)}`),
    forged('a time that is not a number', `t=now,v1=${sign(SECRET, 'now', body)}`),
    forged('a negative time', `t=-${now},v1=${sign(SECRET, `-${now}`, body)}`),
    forged('a meaningless header', 'nonsense'),
    forged('an empty header', ''),
  ];
}

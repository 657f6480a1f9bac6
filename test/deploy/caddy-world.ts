/** Caddy with the configuration of `deploy/`, on loopback, and a client of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../support/free-port.ts';
import { findProgram } from '../support/installed-programs.ts';
import { readDeployFile } from './manifests.ts';

export const CADDY = findProgram(['caddy']);
const START_MAX_MS = 30_000;
const ROOT_CERTIFICATE = 'files/pki/authorities/local/root.crt';

export interface CaddyResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Until `enough` is in it, or the end. */
  readonly text: string;
}

export interface CaddyRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The address of the client, one of 127.0.0.0/8. */
  readonly from?: string;
  /** Ends the response once it contains this. */
  readonly enough?: string;
}

export interface CaddyWorld {
  fetch(path: string, request?: CaddyRequest): Promise<CaddyResponse>;
  stop(): Promise<void>;
}

/** The global options that a trial needs: no files outside the folder, no ports but its own. */
export function trialConfig(folder: string): string {
  const options = [
    'admin off',
    'skip_install_trust',
    'auto_https disable_redirects',
    'default_bind 127.0.0.1',
  ];
  return `{\n${options.join('\n')}\nstorage file_system ${folder}/files\n}\n${readDeployFile('Caddyfile')}`;
}

/** Starts Caddy before these services, with a certificate of its own authority. */
export async function startCaddy(upstreams: readonly string[]): Promise<CaddyWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'skerry-caddy-'));
  const port = await freePort();
  writeFileSync(join(folder, 'Caddyfile'), trialConfig(folder));
  const child = spawn(CADDY ?? 'caddy', ['run', '--config', join(folder, 'Caddyfile')], {
    env: {
      ...{ PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
      ...{ SKERRY_SITE: `https://localhost:${port}`, SKERRY_UPSTREAMS: upstreams.join(' ') },
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString('utf8');
  });
  const ended = once(child, 'close');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const send = async (path: string, options: CaddyRequest = {}) => {
    const ca = readFileSync(join(folder, ROOT_CERTIFICATE));
    return await sendTo({ port, path, ca }, options);
  };
  const deadline = performance.now() + START_MAX_MS;
  for (;;) {
    // Until the services have been asked for the first time, Caddy answers itself.
    const response = await send('/healthz').catch(() => null);
    if (response?.status === 200) return { fetch: send, stop };
    if (performance.now() > deadline || child.exitCode !== null) {
      await stop();
      throw new Error(`Caddy did not start: ${response?.status} ${log}`);
    }
    await pause(50);
  }
}

/** On a new connection each time. */
async function sendTo(
  { port, path, ca }: { readonly port: number; readonly path: string; readonly ca: Buffer },
  { method = 'GET', headers = {}, body, from = '127.0.0.1', enough }: CaddyRequest,
): Promise<CaddyResponse> {
  const agent = new Agent({ ca, localAddress: from });
  const sent = request({ host: '127.0.0.1', servername: 'localhost', port, path, method, headers, agent });
  sent.setHeader('host', `localhost:${port}`);
  sent.end(body);
  try {
    const [response] = await once(sent, 'response');
    let text = '';
    for await (const chunk of response) {
      text += String(chunk);
      if (enough !== undefined && text.includes(enough)) break;
    }
    return { status: response.statusCode, headers: response.headers, text };
  } finally {
    agent.destroy();
  }
}

/** The configurations of Caddy and Tor are valid, and Caddy serves the real service as the guide says. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { databaseUrl } from '../process/live-world.ts';
import { createScratchDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { findProgram, skipUnlessInstalled } from '../support/installed-programs.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { SessionClient } from '../support/session-client.ts';
import { killLeftovers, type SkerrydProcess, startSkerryd } from '../support/skerryd-process.ts';
import { createApiToken } from '../support/v1-client.ts';
import { CADDY, type CaddyWorld, startCaddy, trialConfig } from './caddy-world.ts';
import { PROGRAM_TIMEOUT_MS, readDeployFile } from './manifests.ts';

const TOR = findProgram(['tor', '../sbin/tor']);
const skipCaddy = skipUnlessInstalled(CADDY, 'caddy is not installed');
const REQUESTS = 12;
const BETA = { 'x-service-beta': 'true' };

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const options = { encoding: 'utf8', timeout: PROGRAM_TIMEOUT_MS } as const;
  return spawnSync(program, args, { ...options, env: { PATH: process.env.PATH, ...env } });
}

describe('the configuration of Caddy', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'skerry-caddy-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  it('is valid, as it is and with the header for an onion service', { skip: skipCaddy }, () => {
    const text = readDeployFile('Caddyfile');
    const onion = text.replace(
      '# header Onion-Location http://ADDRESS',
      `header Onion-Location http://${'a'.repeat(56)}`,
    );
    assert.notEqual(onion, text);
    for (const version of [text, onion, trialConfig(folder)]) {
      writeFileSync(join(folder, 'Caddyfile'), version);
      const args = ['validate', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')];
      const { status, stderr } = run(CADDY ?? 'caddy', args, { HOME: folder, XDG_DATA_HOME: folder });
      assert.equal(status, 0, stderr);
    }
    writeFileSync(join(folder, 'Caddyfile'), text);
    assert.equal(run(CADDY ?? 'caddy', ['fmt', join(folder, 'Caddyfile')]).stdout, text);
  });

  it('of Tor is valid', { skip: skipUnlessInstalled(TOR, 'tor is not installed') }, () => {
    const file = join(folder, 'torrc');
    writeFileSync(file, readDeployFile('torrc').replace('/var/lib/tor/skerry', join(folder, 'onion')));
    const data = join(folder, 'tor');
    mkdirSync(data, { mode: 0o700 });
    const { status, stdout } = run(TOR ?? 'tor', ['--verify-config', '-f', file, '--DataDirectory', data]);
    assert.equal(status, 0, stdout);
    assert.doesNotMatch(stdout, /\[(?:warn|err)\](?!.*running Tor as root)/);
  });
});

describe('Caddy in front of two services', { skip: skipCaddy }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'skerry-caddy-'));
  let drop: () => Promise<void>;
  let services: SkerrydProcess[];
  let caddy: CaddyWorld;
  before(async () => {
    // The services share the folder. Another user may run the database.
    chmodSync(folder, 0o755);
    const scratch = await createScratchDatabase();
    drop = scratch.drop;
    const env = {
      DATABASE_URL: databaseUrl(scratch),
      SKERRY_DATA_DIR: folder,
      SKERRY_LOG_LEVEL: 'error',
      SKERRY_DB_POOL: '4',
      SKERRY_TRUSTED_PROXIES: '127.0.0.1',
      SKERRY_TOKEN_FAILURES_PER_HOUR: '3',
    };
    services = [await startSkerryd(env), await startSkerryd(env)];
    caddy = await startCaddy(services.map(({ url }) => new URL(url).host));
  });
  after(async () => {
    await caddy?.stop();
    for (const service of services ?? []) await service.stop();
    killLeftovers();
    await drop?.();
    rmSync(folder, { recursive: true, force: true });
  });

  it('passes the address of the client, and not an address that the client claims', async () => {
    const attempt = async (from: string, claimed: string) => {
      const headers = { ...BETA, authorization: 'Bearer wrong', 'x-forwarded-for': claimed };
      return (await caddy.fetch('/v1/servers', { headers, from })).status;
    };
    const statuses: number[] = [];
    for (let n = 0; n < REQUESTS; n++) statuses.push(await attempt('127.0.0.2', `203.0.113.${n}`));
    // Each service has a limit of its own.
    assert.deepEqual([statuses[0], statuses.at(-1)], [401, 429]);
    assert.equal(await attempt('127.0.0.3', '127.0.0.2'), 401);
  });

  it('passes an event at once, while the stream stays open', async () => {
    const session = SessionClient.forUrl(services[0]?.url ?? '');
    await session.signUp();
    const token = await createApiToken(session);
    const headers = { ...BETA, authorization: `Bearer ${token}` };
    const stream = await caddy.fetch('/v1/events?after=0', { headers, enough: 'token.created' });
    assert.match(stream.headers['content-type'] ?? '', /^text\/event-stream/);
    assert.match(stream.text, /event: token\.created/);
  });

  it('sends every request to the service that is left, also in the moment in which one dies', async () => {
    const [first] = services;
    const statuses: number[] = [];
    for (let n = 0; n < REQUESTS; n++) {
      if (n === 3) await first?.stop('SIGKILL');
      statuses.push((await caddy.fetch('/plans')).status);
    }
    assert.deepEqual(new Set(statuses), new Set([200]));
  });
});

describe('Caddy in front of a port that two services share', { skip: skipCaddy }, () => {
  it('sends no request into an error while one of them leaves', FULL_ONLY, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'skerry-caddy-'));
    chmodSync(folder, 0o755);
    const { drop, ...scratch } = await createScratchDatabase();
    const env = {
      DATABASE_URL: databaseUrl(scratch),
      SKERRY_DATA_DIR: folder,
      SKERRY_LOG_LEVEL: 'error',
      SKERRY_DB_POOL: '4',
      SKERRY_PORT: String(await freePort()),
    };
    const start = () => startSkerryd(env, ['--shared-port']);
    const [first, second] = [await start(), await start()];
    const caddy = await startCaddy([`127.0.0.1:${env.SKERRY_PORT}`]);
    try {
      const statuses = new Set<number>();
      const post = async () =>
        statuses.add((await caddy.fetch('/v1/servers', { method: 'POST', headers: BETA })).status);
      await post();
      // Caddy asks one of them for its health, on a connection that it keeps.
      for (const leaving of [first, second]) {
        let isThere = true;
        const ended = leaving.stop().finally(() => {
          isThere = false;
        });
        while (isThere) await post();
        await ended;
        if (leaving === first) await start();
      }
      assert.deepEqual([...statuses], [401]);
    } finally {
      await caddy.stop();
      killLeftovers();
      await drop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('Caddy with a service that breaks connections', { skip: skipCaddy }, () => {
  it('repeats a GET with another service, and never a POST', async () => {
    const received = { broken: [] as string[], sound: [] as string[] };
    const serve = async (name: 'broken' | 'sound') => {
      const server = createServer((request: IncomingMessage, response: ServerResponse) => {
        const isCheck = request.url === '/readyz' || request.url === '/healthz';
        if (!isCheck) received[name].push(request.method ?? '');
        if (name === 'broken' && !isCheck) request.socket.destroy();
        else response.end('ok');
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    };
    const servers = [await serve('broken'), await serve('sound')];
    const caddy = await startCaddy(
      servers.map((server) => `127.0.0.1:${(server.address() as AddressInfo).port}`),
    );
    try {
      const count = async (method: string) => {
        const statuses: number[] = [];
        for (let n = 0; n < REQUESTS; n++) statuses.push((await caddy.fetch('/x', { method })).status);
        return statuses;
      };
      assert.deepEqual(new Set(await count('GET')), new Set([200]));
      assert.ok(received.broken.length > 0);
      received.broken = [];
      received.sound = [];
      const failed = (await count('POST')).filter((status) => status === 502).length;
      assert.ok(failed > 0);
      assert.equal(received.broken.length, failed);
      assert.equal(received.sound.length, REQUESTS - failed);
    } finally {
      await caddy.stop();
      for (const server of servers) server.close();
    }
  });
});

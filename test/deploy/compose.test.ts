/** The compose file is valid, and its services get what they need and no more. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { requireLiveSafety } from '../../src/compose/live-safety.ts';
import { loadConfig } from '../../src/config.ts';
import { readGuide } from '../docs/docs-content.ts';
import { findProgram, skipUnlessInstalled } from '../support/installed-programs.ts';
import { DEPLOY, type Manifest, PROGRAM_TIMEOUT_MS, readDeployFile, VERSION } from './manifests.ts';

const BASE_URL = 'https://panel.skerry.example';
const OURS = ['migrate', 'api', 'worker'];
const program = findProgram(['docker-compose']);

/** A stop takes 10 seconds, and the longest `SKERRY_STOP_DELAY_S`. */
const STOP_MAX_S = 10 + 15;

describe('the compose file', () => {
  it('is valid, and resolves to the services', {
    skip: skipUnlessInstalled(program, 'docker-compose is not installed'),
  }, () => {
    const { services, volumes } = parse(compose(readDeployFile('compose.yaml')).stdout) as Manifest;
    assert.deepEqual(Object.keys(services).toSorted(), [...OURS, 'postgres'].toSorted());
    assert.deepEqual(Object.keys(volumes).toSorted(), ['data', 'database']);
    for (const name of OURS) {
      const service = services[name];
      assert.equal(service.image, `skerry:${VERSION}`);
      assert.deepEqual([service.user, service.read_only, service.cap_drop], ['10001:10001', true, ['ALL']]);
      assert.deepEqual(service.security_opt, ['no-new-privileges:true']);
      const secret = { source: 'skerry_env', target: '/etc/skerry/.env' };
      assert.deepEqual(service.secrets, [secret]);
      // Secrets are files: nothing in the environment has one.
      assert.ok(!Object.keys(service.environment).some((key) => /DATABASE|SECRET|PASSWORD/.test(key)));
    }
    assert.equal(services.postgres.environment.POSTGRES_PASSWORD_FILE, '/run/secrets/postgres_password');
    assert.deepEqual(services.migrate.depends_on, { postgres: { condition: 'service_healthy' } });
    for (const name of ['api', 'worker']) {
      const after = { migrate: { condition: 'service_completed_successfully' } };
      assert.deepEqual(services[name].depends_on, after);
      assert.ok(Number.parseInt(services[name].stop_grace_period, 10) > STOP_MAX_S);
    }
    const ports = [8080, 8081, 8082].map((port) => `127.0.0.1:${port}:${port}/tcp`);
    assert.deepEqual(services.api.ports, ports);
    const { ipv4_address: address } = services.api.networks.default;
    const { SKERRY_ADMIN_HOST, SKERRY_ONION_HOST } = services.api.environment;
    assert.deepEqual([SKERRY_ADMIN_HOST, SKERRY_ONION_HOST], [address, address]);
  });

  it('is refused by Compose with a field that it does not know', {
    skip: skipUnlessInstalled(program, 'docker-compose is not installed'),
  }, () => {
    const { status, stderr } = compose(
      readDeployFile('compose.yaml').replace('  read_only:', '  readonly:'),
      false,
    );
    assert.notEqual(status, 0);
    assert.match(stderr, /readonly/);
  });

  it('has settings with which a live service starts', () => {
    const { services, networks } = parse(readDeployFile('compose.yaml'), {
      merge: true,
    }) as Manifest;
    const env = { ...services.api.environment, SKERRY_BASE_URL: BASE_URL };
    const config = loadConfig(env, 'DATABASE_URL=postgres://skerry:example@postgres/skerry');
    requireLiveSafety(config);
    // Docker's proxy has the address of the gateway.
    assert.equal(config.SKERRY_TRUSTED_PROXIES, networks.default.ipam.config[0].gateway);
    assert.equal(config.SKERRY_COMPUTE, 'hosts');
  });

  it('gives a container that the guide runs next to its services no address of theirs', () => {
    const { services } = parse(readDeployFile('compose.yaml'), { merge: true }) as Manifest;
    const runs = readGuide('operators/deploy').match(/(?<=docker compose run ).*?(?=`)/g) ?? [];
    assert.ok(runs.length > 0);
    for (const run of runs) {
      const words = run.replace(/--rm |--volume \S+ /g, '').split(' ');
      assert.ok(OURS.includes(words[0] ?? ''), run);
      assert.equal(services[words[0] ?? ''].networks, undefined, run);
    }
  });
});

function compose(text: string, mustPass = true): { status: number | null; stdout: string; stderr: string } {
  const folder = mkdtempSync(join(tmpdir(), 'skerry-compose-'));
  try {
    writeFileSync(join(folder, 'compose.yaml'), text);
    const result = spawnSync(program ?? 'docker-compose', ['-f', join(folder, 'compose.yaml'), 'config'], {
      cwd: DEPLOY,
      encoding: 'utf8',
      timeout: PROGRAM_TIMEOUT_MS,
      env: { PATH: process.env.PATH, SKERRY_VERSION: VERSION, SKERRY_BASE_URL: BASE_URL },
    });
    if (mustPass) assert.equal(result.status, 0, result.stderr);
    return result;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

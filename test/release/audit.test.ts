/** The audit of dependencies, with npm itself against a registry of the test. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { FULL_ONLY } from '../support/runs.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGE = 'fastify';
/** The answer of a registry when npm looks for a version without the flaw. */
const NO_VERSIONS = { name: PACKAGE, versions: {}, 'dist-tags': {} };

/** Runs the audit against a registry that gives this status and severity. */
async function audit(status: number, severity?: string): Promise<{ code: number; output: string }> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    asked.push((request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString());
    const advisory = {
      ...{ id: 1, url: 'https://advisories.example.org/1', title: 'a flaw', severity },
      ...{ vulnerable_versions: '*', cwe: [], cvss: { score: 9, vectorString: null } },
    };
    response.statusCode = status;
    response.setHeader('content-type', 'application/json');
    const advisories = severity === undefined ? {} : { [PACKAGE]: [advisory] };
    response.end(JSON.stringify(request.method === 'POST' ? advisories : NO_VERSIONS));
  });
  // npm keeps what it learned about a flaw.
  const cache = mkdtempSync(join(tmpdir(), 'skerry-audit-'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const child = spawn(process.execPath, ['scripts/audit.ts'], {
      cwd: ROOT,
      env: { ...process.env, npm_config_registry: registry, npm_config_cache: cache },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [output, , [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit') as Promise<[number]>,
    ]);
    assert.match(asked.join(), new RegExp(`"${PACKAGE}":\\[`));
    assert.doesNotMatch(asked.join(), /"cspell"/);
    return { code, output };
  } finally {
    server.close();
    rmSync(cache, { recursive: true, force: true });
  }
}

describe('the audit of dependencies', FULL_ONLY, () => {
  it('passes without a known vulnerability, and says so', async () => {
    const { code, output } = await audit(200);
    assert.deepEqual([code, output], [0, '0 vulnerable packages, 0 of them high or critical.\n']);
  });

  it('fails with a high or critical vulnerability, and names it', async () => {
    for (const severity of ['high', 'critical']) {
      const { code, output } = await audit(200, severity);
      assert.equal(code, 1, severity);
      assert.match(output, new RegExp(`^${severity}: ${PACKAGE} `, 'm'));
    }
  });

  it('reports a lesser vulnerability, and passes', async () => {
    const { code, output } = await audit(200, 'moderate');
    assert.equal(code, 0);
    assert.match(output, new RegExp(`^moderate: ${PACKAGE} `, 'm'));
  });

  it('reports a registry that does not answer, and passes', async () => {
    const { code, output } = await audit(405);
    assert.equal(code, 0);
    assert.match(output, /^Not audited: the package registry does not answer/);
  });
});

/**
 * The database and the logs never contain a secret in readable form: caller addresses, passwords, codes,
 * tokens, cookies, webhook secrets, user data, tickets, links. A real service runs through every success and
 * every error; then everything that it stored and logged is searched.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Canaries, encodingsOf } from '../support/canaries.ts';
import { FULL_ONLY } from '../support/runs.ts';
import {
  exerciseAccount,
  exerciseRestApi,
  exerciseServers,
  sendInvalidRequests,
} from './canary-scenarios.ts';
import { type CanaryWorld, startCanaryWorld } from './canary-world.ts';

describe('a service after every kind of use', FULL_ONLY, () => {
  let world: CanaryWorld;
  before(async () => {
    world = await startCanaryWorld();
  });
  after(() => world.close());

  it('handles every kind of use', async () => {
    await exerciseAccount(world);
    const api = await exerciseRestApi(world);
    await exerciseServers(world, api);
    await sendInvalidRequests(world, api);
  });

  it('stores no secret in readable form', async () => {
    const text = await world.assertNoCanaries('at rest');
    // The search covers real data: it finds data that is stored in plain text on purpose.
    assert.match(text, /ann\.next\.canary@example\.org/);
    assert.match(text, /url-key-canary/);
    assert.match(text, /"?ip_country"? NL/);
    await world.sandbox('clock', { advance_s: 40 * 86_400 });
    await world.assertNoCanaries('after 40 days');
  });

  it('writes no secret to its logs', async () => {
    const { stdout, stderr } = await world.serving.stop();
    const files = globSync('data/**/log', { cwd: world.folder }).map((name) =>
      readFileSync(join(world.folder, name), 'utf8'),
    );
    assert.ok(
      files.length > 0 && stderr.split('\n').length > 50,
      `${files.length} files, ${stderr.length} characters`,
    );
    assert.match(stderr, /"route":"\/v1\/servers"/);
    for (const text of [stdout, stderr, ...files]) assert.deepEqual(world.canaries.findIn(text, 'log'), []);
  });

  it('is searched in a way that finds a canary in every encoding', () => {
    const planted = new Canaries();
    planted.add('x', 'Canary+Pass/word&1=9');
    for (const encoding of encodingsOf('Canary+Pass/word&1=9')) {
      assert.equal(planted.findIn(`a ${encoding} b`, 'log').length, 1, encoding);
    }
    for (const before of ['', 'a', 'ab', 'abc']) {
      const text = Buffer.from(`${before}Canary+Pass/word&1=9 and more`).toString('base64');
      assert.equal(planted.findIn(text, 'database').length, 1, text);
    }
    const kinds = [
      'cookie',
      'CSRF',
      'password',
      'recovery code',
      'API token',
      'secret',
      'root',
      'user data',
      'ticket',
      'link',
    ];
    for (const kind of kinds)
      assert.ok(
        world.canaries.names.some((name) => name.includes(kind)),
        kind,
      );
  });
});

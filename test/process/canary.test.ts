/**
 * Nothing that should be known to nobody can be read in the database or in a log: addresses of callers, passwords, codes,
 * tokens, cookies, secrets of webhooks, user data, tickets, links. A real service is used in every way, and refuses in every
 * way; then everything that it kept and wrote is searched.
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

describe('a service that was used in every way', FULL_ONLY, () => {
  let world: CanaryWorld;
  before(async () => {
    world = await startCanaryWorld();
  });
  after(() => world.close());

  it('is used', async () => {
    await exerciseAccount(world);
    const api = await exerciseRestApi(world);
    await exerciseServers(world, api);
    await sendInvalidRequests(world, api);
  });

  it('keeps none of it where it could be read', async () => {
    const text = await world.searched('at rest');
    // What is searched is what there is, and what customers may read is found in it.
    assert.match(text, /ann\.next\.canary@example\.org/);
    assert.match(text, /url-key-canary/);
    assert.match(text, /"?ip_country"? NL/);
    await world.sandbox('clock', { advance_s: 40 * 86_400 });
    await world.searched('after the calendar went on');
  });

  it('has written none of it into its logs', async () => {
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

  it('was searched for what would have been found in any spelling', () => {
    const planted = new Canaries();
    planted.add('x', 'Canary+Pass/word&1=9');
    for (const spelling of encodingsOf('Canary+Pass/word&1=9')) {
      assert.equal(planted.findIn(`a ${spelling} b`, 'log').length, 1, spelling);
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

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { FULL_ONLY } from '../../support/runs.ts';
import { createFolder } from '../support/folder.ts';
import { createCli } from '../support/run-cli.ts';

const TWO = {
  current: 'work',
  contexts: {
    work: { url: 'https://one.example', token: 'skerry_live_aaaaaaaawork' },
    home: { url: 'https://two.example', token: 'skerry_live_aaaaaaaahome' },
  },
};

function withFile(config: object = TWO) {
  const path = join(createFolder(), 'config.json');
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  const cli = createCli(null);
  const run = (env: Record<string, string>, ...words: readonly string[]) =>
    cli.with({ env: { SKERRY_CONFIG: path, ...env } }, ...words);
  return { run, read: () => JSON.parse(readFileSync(path, 'utf8')) };
}

describe('skerry context', { concurrency: true }, () => {
  it('context list marks the current context and shows only the end of each token', async () => {
    const { run } = withFile();
    const { stdout } = await run({}, 'context', 'list');
    assert.equal(
      stdout,
      [
        'CURRENT   NAME   URL                   TOKEN HINT',
        '          home   https://two.example   …home',
        '*         work   https://one.example   …work',
        '',
      ].join('\n'),
    );
    const { stdout: json } = await run({}, 'context', 'list', '-o', 'json');
    assert.ok(!json.includes('skerry_live'));
  });

  it('context commands switch, rename, and delete contexts', FULL_ONLY, async () => {
    const { run, read } = withFile();
    assert.equal((await run({}, 'context', 'use', 'home')).code, 0);
    assert.equal((await run({}, 'context', 'rename', 'home', 'house')).code, 0);
    assert.deepEqual([read().current, Object.keys(read().contexts)], ['house', ['work', 'house']]);
    assert.equal((await run({}, 'context', 'delete', 'house')).code, 0);
    assert.deepEqual(read(), { current: null, contexts: { work: TWO.contexts.work } });
  });

  it('context commands reject a name that is unknown, taken, or invalid', FULL_ONLY, async () => {
    const { run, read } = withFile();
    for (const words of [
      ['use', 'nowhere'],
      ['delete', '__proto__'],
      ['rename', 'work', 'home'],
      ['rename', 'work', 'a b'],
    ]) {
      assert.equal((await run({}, 'context', ...words)).code, 2, words.join(' '));
    }
    assert.deepEqual(read(), TWO);
  });

  it('context show prefers --context over the environment, and both over the file', FULL_ONLY, async () => {
    const { run } = withFile();
    const shown = async (env: Record<string, string>, ...words: string[]) => {
      const { stdout, stderr } = await run(
        env,
        'context',
        'show',
        '-o',
        'columns=name,url',
        '--no-header',
        ...words,
      );
      return `${stdout}${stderr}`.trim().replace(/ +/g, ' ');
    };
    const own = { SKERRY_API_URL: 'https://three.example', SKERRY_TOKEN: 'skerry_live_x' };
    assert.equal(await shown({}), 'work https://one.example');
    assert.equal(await shown({ SKERRY_CONTEXT: 'home' }), 'home https://two.example');
    assert.equal(await shown(own), '(environment) https://three.example');
    assert.equal(await shown(own, '--context', 'home'), 'home https://two.example');
  });

  it('the token of a context is not sent to another host', async () => {
    const { run } = withFile();
    const { code, stderr } = await run({ SKERRY_API_URL: 'http://127.0.0.1:9' }, 'server', 'list');
    assert.equal(code, 2);
    assert.match(stderr, /set SKERRY_TOKEN as well/);
  });
});

import assert from 'node:assert/strict';
import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { FULL_ONLY } from '../../support/runs.ts';
import { createApiToken } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { createFolder } from '../support/folder.ts';
import { type Cli, createCli } from '../support/run-cli.ts';
import { CTRL_C, runOnTerminal } from '../support/run-on-terminal.ts';

describe('skerry login', { concurrency: true }, () => {
  let world: World;
  let token: string;
  let reading: string;
  before(async () => {
    world = await startWorld({ SKERRY_RATE_CAPACITY: '1000', SKERRY_RATE_REFILL_PER_S: '1000' });
    const customer = await world.customer();
    token = await createApiToken(customer);
    reading = await createApiToken(customer, 'read');
  });
  after(() => world.close());

  const fileOf = (cli: Cli) => join(cli.env.HOME ?? '', '.config/skerry/config.json');
  const signIn = (cli: Cli, secret: string, ...words: readonly string[]) =>
    cli.with({ input: `${secret}\n` }, 'login', '--url', world.url, '--token-stdin', ...words);

  it('login stores a token from stdin in a file that only its owner can read', async () => {
    const cli = createCli(null);
    const { code, stdout, stderr } = await signIn(cli, token, '--name', 'work', '-o', 'json');
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(JSON.parse(stdout), {
      name: 'work',
      url: world.url,
      token_hint: token.slice(-4),
      current: true,
    });
    assert.equal(statSync(fileOf(cli)).mode & 0o777, 0o600);
    assert.deepEqual(JSON.parse(readFileSync(fileOf(cli), 'utf8')), {
      current: 'work',
      contexts: { work: { url: world.url, token } },
    });
    assert.deepEqual(await cli.json('server', 'list'), []);
  });

  it(
    'login on a terminal asks for address and token, hides the token, and describes its access',
    FULL_ONLY,
    async () => {
      const { env } = createCli(null);
      const keys = [
        { after: 'Address of the host: ', press: `${world.url}/v1/\r` },
        { after: '(not shown): ', press: `${reading}\r` },
      ];
      const { code, screen } = await runOnTerminal({ env, keys }, 'login');
      assert.equal(code, 0, screen);
      assert.ok(screen.includes(`${world.url}/account/tokens`), screen);
      assert.ok(!screen.includes(reading.slice(-20)), screen);
      assert.match(screen, /has no access to billing/);
      assert.match(screen, /Name: +127\.0\.0\.1|Name: +localhost/);
    },
  );

  it('login exits with 130 on Ctrl-C and stores nothing', FULL_ONLY, async () => {
    const cli = createCli(null);
    const keys = [{ after: '(not shown): ', press: CTRL_C }];
    const { code, screen } = await runOnTerminal({ env: cli.env, keys }, 'login', '--url', world.url);
    assert.deepEqual([code, /nothing was changed/.test(screen)], [130, true], screen);
    assert.deepEqual(await cli.json('context', 'list'), []);
  });

  it('login stores no rejected token and no address without a host', FULL_ONLY, async () => {
    const cli = createCli(null);
    const wrong = await signIn(cli, `skerry_live_${'a'.repeat(52)}`);
    assert.equal(wrong.code, 3);
    const nowhere = ['login', '--url', 'http://127.0.0.1:9', '--token-stdin'];
    assert.equal((await cli.with({ input: token }, ...nowhere)).code, 8);
    for (const url of ['ftp://skerry.example', 'https://me:pw@skerry.example', 'a b']) {
      const { code, stderr } = await cli.with({ input: token }, 'login', '--url', url, '--token-stdin');
      assert.equal(code, 2, stderr);
    }
    assert.deepEqual(await cli.json('context', 'list'), []);
  });

  it('login accepts no token as an argument', async () => {
    const { code, stderr } = await createCli(null)('login', '--token', token);
    assert.equal(code, 2);
    assert.match(stderr, /skerry login --help/);
    assert.ok(!stderr.includes(token));
  });

  it('login warns before it sends a token over an unencrypted connection', FULL_ONLY, async () => {
    const { stderr } = await createCli(null).with(
      { input: token },
      ...['login', '--url', 'http://skerry.invalid', '--token-stdin'],
    );
    assert.match(stderr, /is not encrypted/);
  });

  it('login replaces another account of the same host only with an explicit name', FULL_ONLY, async () => {
    const cli = createCli(null);
    assert.equal((await signIn(cli, token)).code, 0);
    assert.equal(
      (await signIn(cli, token)).code,
      0,
      'signing in to the same account again needs no confirmation',
    );
    const second = await signIn(cli, reading);
    assert.deepEqual([second.code, /--name/.test(second.stderr)], [2, true]);
    assert.equal((await signIn(cli, reading, '--name', 'second')).code, 0);
    assert.equal((await signIn(cli, reading, '--name', '127.0.0.1')).code, 0);
  });

  it('concurrent logins lose no context', FULL_ONLY, async () => {
    const cli = createCli(null);
    const names = ['a', 'b', 'c', 'd', 'e'];
    const made = await Promise.all(names.map((name) => signIn(cli, token, '--name', name)));
    assert.deepEqual([...new Set(made.map(({ code }) => code))], [0]);
    const list = await cli.json('context', 'list');
    assert.deepEqual(
      list.map(({ name }: { name: string }) => name),
      names,
    );
  });

  it(
    'a context file that others can read causes a warning, and a link to it is followed',
    FULL_ONLY,
    async () => {
      const cli = createCli(null);
      assert.equal((await signIn(cli, token)).code, 0);
      chmodSync(fileOf(cli), 0o644);
      assert.match((await cli('server', 'list')).stderr, /other users can read the tokens/);
      const link = join(createFolder(), 'link.json');
      symlinkSync(fileOf(cli), link);
      const over = { ...cli.env, SKERRY_CONFIG: link };
      const renamed = await cli.with({ env: over }, 'context', 'rename', '127.0.0.1', 'work');
      assert.equal(renamed.code, 0, renamed.stderr);
      assert.equal(statSync(fileOf(cli)).mode & 0o777, 0o600);
      assert.equal(JSON.parse(readFileSync(fileOf(cli), 'utf8')).current, 'work');
    },
  );

  it('logout deletes the context and says that the token is still valid', FULL_ONLY, async () => {
    const cli = createCli(null);
    assert.equal((await signIn(cli, token, '--name', 'work')).code, 0);
    const { code, screen } = await runOnTerminal({ env: cli.env }, 'logout');
    assert.equal(code, 0, screen);
    assert.match(screen, /Signed out of work\. Its token is still valid/);
    const { code: after, stderr } = await cli('server', 'list');
    assert.deepEqual([after, /skerry login/.test(stderr)], [3, true]);
    assert.equal((await cli('logout')).code, 2);
  });

  it('an error about a corrupt context file names the file', FULL_ONLY, async () => {
    const path = join(createFolder(), 'config.json');
    for (const text of ['{', '[]', '{"contexts":{"a":1}}', '{"current":1,"contexts":{}}', 'null']) {
      writeFileSync(path, text, { mode: 0o600 });
      const { code, stderr } = await createCli(null).with(
        { env: { SKERRY_CONFIG: path } },
        'context',
        'list',
      );
      assert.equal(code, 2, text);
      assert.ok(stderr.includes(path) && stderr.split('\n').length === 2, stderr);
    }
  });
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ApiError } from '@skerry/sdk';
import { COMMANDS } from '../../packages/cli/src/commands/index.ts';
import { explain } from '../../packages/cli/src/exit-codes.ts';
import { kebabCase } from '../../packages/cli/src/options.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { createApiToken } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';
import { createCli } from './support/run-cli.ts';

const README = fileURLToPath(new URL('../../packages/cli/README.md', import.meta.url));

it('an error of the service is printed without the regular expression of the field', () => {
  const message = 'ipv4 must be a host name.';
  const errors = [{ field: 'ipv4', issue: 'invalid_format', pattern: '^[a-z]+$' }];
  const body = { error: { code: 'invalid_request', message, errors, request_id: 'req_1' } };
  const lines = explain(new ApiError(new Response(null, { status: 400 }), body));
  assert.deepEqual(lines, [`skerry: ${message} (ipv4: invalid_format)`, '  request ID: req_1']);
});

describe('exit codes', { concurrency: true }, () => {
  const signedOut = createCli(null);
  it('exit codes have the same description in help and in the README', async () => {
    const { stdout } = await signedOut('help', 'exit-codes');
    const inHelp = stdout
      .trimEnd()
      .split('\n')
      .map((line) => /^ *(\d+) {2}(\S+) +(.+)$/.exec(line)?.slice(1));
    const rows = [...readFileSync(README, 'utf8').matchAll(/^\| (\d+) \| `(\w+)` \| (.+) \|$/gm)];
    assert.deepEqual(
      rows.map((row) => row.slice(1)),
      inHelp,
    );
  });

  it('--version prints the version of the package', async () => {
    const file = new URL('../../packages/cli/package.json', import.meta.url);
    const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string };
    assert.deepEqual(await signedOut('--version'), { code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('help and the version go to stdout with exit code 0', FULL_ONLY, async () => {
    for (const words of [['--help'], ['server', 'list', '--help'], ['help', 'server', 'ls'], ['--version']]) {
      const { code, stdout, stderr } = await signedOut(...words);
      assert.deepEqual([code, stderr, stdout.length > 0], [0, '', true], words.join(' '));
    }
  });

  it('help names the environment variables and the topic of exit codes', async () => {
    const { stdout } = await signedOut('--help');
    for (const word of [
      'SKERRY_API_URL',
      'SKERRY_TOKEN',
      'SKERRY_CONTEXT',
      'SKERRY_CONFIG',
      'help exit-codes',
    ]) {
      assert.ok(stdout.includes(word), word);
    }
  });

  it('an invalid command line exits with 2 and a hint', FULL_ONLY, async () => {
    for (const [words, hint] of [
      [['server', 'list', '--stauts', 'x'], /--status/],
      [['servre', 'list'], /server/],
      [['server', 'lits'], /list/],
      [['server', 'list', 'more'], /server list --help/],
      [['server', 'list', '--status', 'x'], /running/],
      [['server', 'list', '--limit', 'x'], /number/],
      [['server'], /Usage: skerry server/],
      [[], /Usage: skerry/],
      [['help', 'nothing'], /skerry help/],
    ] as const) {
      const { code, stdout, stderr } = await signedOut(...words);
      assert.deepEqual([code, stdout], [2, ''], words.join(' '));
      assert.match(stderr, hint);
    }
  });

  it('an unknown option exits with 2, and a command without an account with 3', async () => {
    const [unknown, noAccount] = await Promise.all([
      signedOut('server', 'list', '--stauts'),
      signedOut('server', 'list'),
    ]);
    assert.deepEqual([unknown.code, /--status/.test(unknown.stderr)], [2, true]);
    assert.deepEqual([noAccount.code, /skerry login/.test(noAccount.stderr)], [3, true]);
  });
});

describe('exit codes by kind of failure', FULL_ONLY, () => {
  let world: World;
  before(async () => {
    world = await startWorld({ SKERRY_RATE_CAPACITY: '1000', SKERRY_RATE_REFILL_PER_S: '1000' });
  });
  after(() => world.close());

  it('every kind of failure has its exit code, and no stack trace is printed', async () => {
    const token = await createApiToken(await world.customer());
    const cli = createCli({ url: world.url, token });
    const at = (url: string, given = token) => createCli({ url, token: given });
    for (const [expected, run] of [
      [3, createCli(null)('server', 'list')],
      [3, at(world.url, 'wrong')('server', 'list')],
      [5, cli('server', 'describe', 'nothing')],
      [7, cli('volume', 'create', 'a', '--size-gb', '10', '--region', 'xyz')],
      [8, at('http://127.0.0.1:9')('server', 'list')],
      [8, at(`${world.url}/docs`)('server', 'list')],
      [2, at('not an address')('server', 'list')],
      [2, cli('server', 'list', '--context', 'none')],
      [2, at(world.url, 'two words')('server', 'list')],
    ] as const) {
      const { code, stdout, stderr } = await run;
      assert.deepEqual([code, stdout], [expected, ''], stderr);
      assert.match(stderr, /^skerry: \S/);
      assert.doesNotMatch(stderr, /^ +at |node:|undefined|two words/m);
    }
  });
});

it('the README names only existing commands and options', () => {
  const lines = [...readFileSync(README, 'utf8').matchAll(/^(?:\w+=\$\()?(skerry [a-z].*?)(?: +#.*)?$/gm)];
  const global = ['output', 'no-header', 'quiet', 'context'];
  assert.ok(lines.length > 15);
  for (const [, line = ''] of lines) {
    for (const one of line.split(/ \|\|? /).filter((part) => part.startsWith('skerry '))) {
      const words = one.replace(/ --context \S+/, '').slice('skerry '.length);
      const row = COMMANDS.find(({ name, isDefault }) => {
        const group = name.split(' ').slice(0, -1).join(' ');
        return `${words} `.startsWith(`${name} `) || (isDefault && words.startsWith(`${group} --`));
      });
      assert.ok(row, one);
      const options = [...Object.keys(row.options ?? {}).map(kebabCase), ...global];
      for (const [, option] of words.matchAll(/ --([a-z-]+)/g))
        assert.ok(options.includes(option ?? ''), one);
    }
  }
});

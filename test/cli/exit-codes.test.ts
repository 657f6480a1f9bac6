import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { COMMANDS } from '../../packages/cli/src/commands/index.ts';
import { kebabCase } from '../../packages/cli/src/options.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { createApiToken } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';
import { createCli } from './support/run-cli.ts';

const README = fileURLToPath(new URL('../../packages/cli/README.md', import.meta.url));

describe('what the command leaves with', { concurrency: true }, () => {
  const nobody = createCli(null);
  it('stands in its help and in its README, in the same words', async () => {
    const { stdout } = await nobody('help', 'exit-codes');
    const told = stdout
      .trimEnd()
      .split('\n')
      .map((line) => /^ *(\d+) {2}(\S+) +(.+)$/.exec(line)?.slice(1));
    const rows = [...readFileSync(README, 'utf8').matchAll(/^\| (\d+) \| `(\w+)` \| (.+) \|$/gm)];
    assert.deepEqual(
      rows.map((row) => row.slice(1)),
      told,
    );
  });

  it('is 0 with help and the version on stdout', FULL_ONLY, async () => {
    for (const words of [['--help'], ['server', 'list', '--help'], ['help', 'server', 'ls'], ['--version']]) {
      const { code, stdout, stderr } = await nobody(...words);
      assert.deepEqual([code, stderr, stdout.length > 0], [0, '', true], words.join(' '));
    }
  });

  it('names the environment and the exit codes in its help', async () => {
    const { stdout } = await nobody('--help');
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

  it('is 2 for a wrong command line, with a hint', FULL_ONLY, async () => {
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
      const { code, stdout, stderr } = await nobody(...words);
      assert.deepEqual([code, stdout], [2, ''], words.join(' '));
      assert.match(stderr, hint);
    }
  });

  it('is 2 for an unknown option, and 3 where nobody is signed in', async () => {
    const [unknown, nobodyThere] = await Promise.all([
      nobody('server', 'list', '--stauts'),
      nobody('server', 'list'),
    ]);
    assert.deepEqual([unknown.code, /--status/.test(unknown.stderr)], [2, true]);
    assert.deepEqual([nobodyThere.code, /skerry login/.test(nobodyThere.stderr)], [3, true]);
  });
});

describe('what the command leaves with, by the class of what went wrong', FULL_ONLY, () => {
  let world: World;
  before(async () => {
    world = await startWorld({ SKERRY_RATE_CAPACITY: '1000', SKERRY_RATE_REFILL_PER_S: '1000' });
  });
  after(() => world.close());

  it('is that of the class of what went wrong, and no stack is ever shown', async () => {
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

it('the README names only commands and options that there are', () => {
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

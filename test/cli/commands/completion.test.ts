import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { complete } from '../../../packages/cli/src/commands/completion/candidates.ts';
import { COMMANDS, GROUPS } from '../../../packages/cli/src/commands/index.ts';
import { findProgram, skipUnlessInstalled } from '../../support/installed-programs.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { createFolder } from '../support/folder.ts';
import { type Cli, createCli, runProgram } from '../support/run-cli.ts';
import { runLineOnTerminal } from '../support/run-on-terminal.ts';

const BIN = fileURLToPath(new URL('../../../packages/cli/bin/skerry.js', import.meta.url));
const zsh = findProgram(['zsh']);
const fish = findProgram(['fish']);
const TAB = '\t';

const offered = (...words: readonly string[]) =>
  complete(COMMANDS, GROUPS, words).candidates.map(({ word }) => word);

it('completion suggests commands, options, and choices where they are valid', () => {
  assert.deepEqual(offered('ser'), ['server']);
  assert.ok(offered('topups', '').includes('create'));
  assert.deepEqual(offered('topup', '--amo'), ['--amount-usd']);
  assert.deepEqual(offered('server', '-o', 'json', 'descr'), ['describe']);
  assert.deepEqual(offered('volumes', 'ls', '--reg'), ['--region']);
  assert.deepEqual(offered('server', 'list', '--status=ru'), ['--status=running']);
  assert.deepEqual(offered('server', 'list', '--status', 'st'), ['stopped']);
  assert.deepEqual(offered('context', 'list', '-o', 'columns=name,u'), ['columns=name,url']);
  assert.deepEqual(offered('server', 'describe', '--', '--'), []);
  assert.deepEqual(offered('nothing', 'of', 'the', 'kind'), []);
  assert.ok(!offered('').includes('__complete'));
});

describe('skerry completion', { concurrency: true, ...FULL_ONLY }, () => {
  let world: World;
  let cli: Cli;
  /** The environment of a shell with `skerry` in its PATH. */
  let env: Record<string, string>;
  before(async () => {
    world = await startWorld({ SKERRY_RATE_CAPACITY: '1000', SKERRY_RATE_REFILL_PER_S: '1000' });
    const token = await createApiToken(await world.customer());
    cli = createCli({ url: world.url, token });
    const v1 = V1Client.forUrl(world.url, token);
    for (const name of ['data', 'two words']) {
      await v1.post('/volumes', { name, size_gb: 10, region: 'par' });
    }
    const bin = join(createFolder(), 'bin');
    mkdirSync(bin);
    symlinkSync(BIN, join(bin, 'skerry'));
    env = { ...cli.env, PATH: `${bin}${delimiter}${cli.env.PATH}`, PS1: '$ ', LC_ALL: 'C.UTF-8' };
  });
  after(() => world.close());

  const completedWords = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await cli('__complete', '--', ...words);
    assert.deepEqual([code, stderr], [0, '']);
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split('\t')[0]);
  };

  it('completion suggests names, and the ID if a shell would split the name', async () => {
    const volumes = await completedWords('volume', 'describe', '');
    assert.equal(volumes.length, 2);
    assert.ok(volumes.includes('data') && volumes.some((word) => word?.startsWith('vol_')), volumes.join());
    assert.deepEqual(await completedWords('volume', 'list', '--region', 'pa'), ['par']);
  });

  it('completion is silent if the host does not respond', async () => {
    const wrong = { SKERRY_API_URL: 'http://127.0.0.1:9' };
    const { code, stdout, stderr } = await cli.with(
      { env: wrong },
      ...['__complete', '--', 'server', 'describe', ''],
    );
    assert.deepEqual([code, stdout, stderr], [0, '', '']);
  });

  it('completion works in bash', async () => {
    const keys = [
      { after: '$ ', press: `skerry volume describe da${TAB}`, repeat: TAB },
      { after: 'data ', press: `-o json >/dev/null; echo is $?\r` },
      { after: 'is 0', press: `skerry server list --status=run${TAB}`, repeat: TAB },
      { after: '--status=running ', press: '-o json\r' },
      { after: '[]', press: `skerry context list -o columns=name,tok${TAB}`, repeat: TAB },
      { after: 'columns=name,token_hint ', press: '\u0015exit\r' },
    ];
    const rc = `exec bash --rcfile <(skerry completion bash; echo 'PS1="$ "') -i`;
    await runLineOnTerminal({ env: { ...env, SHELL: '/bin/bash' }, keys }, rc);
  });

  it('completion works in zsh', { skip: skipUnlessInstalled(zsh, 'zsh is not installed') }, async () => {
    const folder = createFolder();
    const { stdout } = await cli('completion', 'zsh');
    writeFileSync(join(folder, '.zshrc'), `PS1='$ '; autoload -U compinit; compinit -u -D\n${stdout}`);
    const keys = [
      { after: '$ ', press: `skerry volume describe da${TAB}`, repeat: TAB },
      { after: /describe da[\s\S]*ta/, press: `-o json >/dev/null; echo is $?\r` },
      { after: 'is 0', press: `skerry server list --status=run${TAB}`, repeat: TAB },
      { after: /--status=run[\s\S]*ning/, press: '\u0015exit\r' },
    ];
    await runLineOnTerminal({ env: { ...env, ZDOTDIR: folder }, keys }, `exec ${zsh} -i`);
  });

  it('completion works in fish', { skip: skipUnlessInstalled(fish, 'fish is not installed') }, async () => {
    const script = `skerry completion fish | source
      complete -C 'skerry volume describe da'
      complete -C 'skerry server list --status=run'`;
    const { stdout } = await runProgram([fish ?? '', '--no-config', '-c', script], { env });
    assert.match(stdout, /^data\t?.*\n--status=running\n$/);
  });
});

/** The CLI commands in the guides work as described, and the tables match the CLI. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { EXIT_CODES } from '../../packages/cli/src/exit-codes.ts';
import { ENVIRONMENT } from '../../packages/cli/src/help.ts';
import { publicKey } from '../panel/support/estate.ts';
import { FULL_ONLY, IS_FULL_RUN } from '../support/runs.ts';
import { type CliRunner, startCliRunner } from './cli-runner.ts';
import { codeBlocks, readGuide } from './docs-content.ts';

const GUIDE = readGuide('customers/cli');

describe('the CLI guide', () => {
  it('uses the correct package name', () => {
    const file = new URL('../../packages/cli/package.json', import.meta.url);
    const { name } = JSON.parse(readFileSync(file, 'utf8')) as { readonly name: string };
    const tarball = `${name.slice(1).replace('/', '-')}-*.tgz`;
    for (const guide of [GUIDE, readGuide('customers/getting-started')]) {
      assert.ok(guide.includes(`npm install --global ./skerry-sdk-*.tgz ./${tarball}\n`));
    }
  });

  it('lists the exit codes and the environment variables of the CLI', () => {
    for (const [name, { code, about }] of Object.entries(EXIT_CODES)) {
      assert.ok(GUIDE.includes(`| ${code} | \`${name}\` | ${about} |`), name);
    }
    for (const [name] of ENVIRONMENT) assert.ok(GUIDE.includes(`| \`${name}\` | `), name);
  });
});

describe('the CLI commands in the guides', FULL_ONLY, () => {
  let runner: CliRunner;
  before(async () => {
    if (IS_FULL_RUN) runner = await startCliRunner();
  });
  after(() => runner?.close());

  /** Returns the shell commands of a guide or of one section, without the installation of the CLI. */
  const commandsIn = (guide: string, heading?: string) =>
    codeBlocks(readGuide(guide), heading)
      .filter(({ language, text }) => language === 'sh' && !text.startsWith('npm install'))
      .map(({ text }) => text)
      .join('\n');

  it('create a first server', async () => {
    const printed = await runner.run(commandsIn('customers/getting-started', 'Use the CLI'));
    assert.match(printed, /^Status: +credited$/m);
    assert.match(printed, /^Status: +running$/m);
  });

  it('run from the first line of the CLI guide to the last', async () => {
    const file = codeBlocks(GUIDE).find(({ language }) => language === 'yaml')?.text ?? '';
    const key = publicKey(2, 'deploy');
    const printed = await runner.run(commandsIn('customers/cli'), { 'shop.yaml': file, 'deploy.pub': key });
    assert.match(printed, /^web-1 +198\.18\.\d+\.\d+$/m);
    assert.match(printed, /^srv_\S+ +web-1 +stopped /m);
    assert.match(printed, /^db-1 not found$/m);
    assert.match(printed, /^Status: +credited$/m);
    assert.match(printed, /^Project shop:$/m);
    assert.match(printed, /^Project shop matches the file: nothing to do\.$/m);
  });

  it('top up as the payments guide describes', async () => {
    const login = 'skerry login --url https://skerry.example --token-stdin < token.txt';
    assert.match(await runner.run(`${login}\n${commandsIn('customers/payments')}`), /^Status: +credited$/m);
  });

  it('subscribe to events as the webhooks guide describes', async () => {
    const setup =
      'base=https://skerry.example token=$(cat token.txt)\nexport SKERRY_API_URL=$base SKERRY_TOKEN=$token';
    const printed = await runner.run(`${setup}\n${commandsIn('customers/webhooks', 'Subscribe')}`);
    assert.equal(printed.match(/whsec_\w+/g)?.length, 2, printed);
  });
});

/** What the guides type on the command line does what they say; their tables are those of the command. */
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

describe('the guide to the command line', () => {
  it('names the package as it is called', () => {
    const file = new URL('../../packages/cli/package.json', import.meta.url);
    const { name } = JSON.parse(readFileSync(file, 'utf8')) as { readonly name: string };
    const tarball = `${name.slice(1).replace('/', '-')}-*.tgz`;
    for (const guide of [GUIDE, readGuide('customers/getting-started')]) {
      assert.ok(guide.includes(`npm install --global ./skerry-sdk-*.tgz ./${tarball}\n`));
    }
  });

  it('has the exit codes and the variables of the command', () => {
    for (const [name, { code, about }] of Object.entries(EXIT_CODES)) {
      assert.ok(GUIDE.includes(`| ${code} | \`${name}\` | ${about} |`), name);
    }
    for (const [name] of ENVIRONMENT) assert.ok(GUIDE.includes(`| \`${name}\` | `), name);
  });
});

describe('what the guides type on the command line', FULL_ONLY, () => {
  let desk: CliRunner;
  before(async () => {
    if (IS_FULL_RUN) desk = await startCliRunner();
  });
  after(() => desk?.close());

  /** Of a whole guide, or of a part of it. Nothing is installed: the command is there. */
  const typedIn = (guide: string, heading?: string) =>
    codeBlocks(readGuide(guide), heading)
      .filter(({ language, text }) => language === 'sh' && !text.startsWith('npm install'))
      .map(({ text }) => text)
      .join('\n');

  it('leads to the first server', async () => {
    const printed = await desk.run(typedIn('customers/getting-started', 'Use the CLI'));
    assert.match(printed, /^Status: +credited$/m);
    assert.match(printed, /^Status: +running$/m);
  });

  it('works in the guide to the command line, from its first line to its last', async () => {
    const file = codeBlocks(GUIDE).find(({ language }) => language === 'yaml')?.text ?? '';
    const key = publicKey(2, 'deploy');
    const printed = await desk.run(typedIn('customers/cli'), { 'shop.yaml': file, 'deploy.pub': key });
    assert.match(printed, /^web-1 +198\.18\.\d+\.\d+$/m);
    assert.match(printed, /^srv_\S+ +web-1 +stopped /m);
    assert.match(printed, /^db-1 not found$/m);
    assert.match(printed, /^Status: +credited$/m);
    assert.match(printed, /^Project shop:$/m);
    assert.match(printed, /^Project shop matches the file: nothing to do\.$/m);
  });

  it('tops up as the guide to payments says', async () => {
    const begin = 'skerry login --url https://skerry.example --token-stdin < token.txt';
    assert.match(await desk.run(`${begin}\n${typedIn('customers/payments')}`), /^Status: +credited$/m);
  });

  it('subscribes to events as the guide to webhooks says', async () => {
    const begin =
      'base=https://skerry.example token=$(cat token.txt)\nexport SKERRY_API_URL=$base SKERRY_TOKEN=$token';
    const printed = await desk.run(`${begin}\n${typedIn('customers/webhooks', 'Subscribe')}`);
    assert.equal(printed.match(/whsec_\w+/g)?.length, 2, printed);
  });
});

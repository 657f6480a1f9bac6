import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command } from 'commander';
import { parseCatalogue } from '../../src/domain/catalogue/parse.ts';
import { OperatorError } from '../../src/kernel/operator-error.ts';
import { addHostCommands } from '../../src/operator/hosts/this-machine.ts';
import { runOperator } from '../../src/operator/run.ts';
import { SETTINGS } from '../../src/spec/settings.ts';
import { SWITCH_NAMES } from '../../src/spec/switches.ts';
import { codeBlocks, readGuide } from '../docs/docs-content.ts';
import { operatorPages } from '../docs/operator-texts.ts';

/** The pages that people write, and all of them with those that `npm run docs` writes. */
const WRITTEN = operatorPages({ generated: false }).join('\n');
const ALL = operatorPages({ generated: true }).join('\n');
/** The lines that a reader types. */
const LINES = codeBlocks(WRITTEN)
  .filter(({ language }) => language === 'sh')
  .flatMap(({ text }) => text.split('\n'));

/** Names of the commands that `--help` lists under these words. */
async function commands(...words: string[]): Promise<string[]> {
  let text = '';
  const resources = {
    settings: () => [],
    database: async () => assert.fail('opened'),
    service: async () => assert.fail('opened'),
  };
  const write = (line: string) => {
    text += line;
  };
  await runOperator([...words, '--help'], resources, undefined, { out: write, err: write, ask: null });
  const list = text.split('Commands:')[1] ?? '';
  return [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)]
    .map((match) => match[1] ?? '')
    .filter((name) => name !== 'help');
}

test('the operator pages name every setting and every switch', () => {
  const missing = [...Object.keys(SETTINGS), ...SWITCH_NAMES].filter((name) => !ALL.includes(name));
  assert.deepEqual(missing, []);
});

test('the operator pages that people write show every command', async () => {
  const names = await commands();
  assert.ok(names.length >= 9, names.join(' '));
  const all = await Promise.all(
    names.map(async (name) => {
      const inner = await commands(name);
      return inner.length > 0 ? inner.map((verb) => `${name} ${verb}`) : [name];
    }),
  );
  const missing = all
    .flat()
    .filter((command) => !LINES.some((line) => `${line} `.startsWith(`skerryd ${command} `)));
  assert.deepEqual(missing, []);
});

test('every command of the operator pages is accepted as it is written', async () => {
  const lines = LINES.flatMap((line) => /^(?:SKERRY_\w+=\S+ )?skerryd (.*)$/.exec(line)?.[1] ?? []);
  assert.ok(lines.length > 100, `${lines.length} commands`);
  // A date that is ahead of the writer is behind some reader.
  assert.deepEqual(
    lines.filter((line) => /--(at|due|from|until)[ =]\d{4}-/.test(line)),
    [],
  );
  const refused: string[] = [];
  for (const line of lines) {
    const argv = splitWords(line);
    // The composition root adds these two; neither is written with options here.
    if (argv[0] === 'serve' || line === 'doctor') continue;
    const doors = {
      settings: () => [],
      database: () => Promise.reject(new OperatorError('opened')),
      service: () => Promise.reject(new OperatorError('opened')),
    };
    let said = '';
    const say = (text: string) => {
      said += text;
    };
    const code = await runOperator(argv, doors, addHost, { out: say, err: say, ask: null });
    if (code === 2) refused.push(`${line}: ${said}`);
  }
  assert.deepEqual(refused, []);
});

/** `host` comes from the composition root, too. Nothing runs here. */
function addHost(program: Command): void {
  const stop = () => Promise.reject(new OperatorError('opened'));
  addHostCommands(program, stop, () => undefined);
}

/** As a shell splits them: quotes hold together, a `#` begins a comment, and `date` is run. */
function splitWords(line: string): string[] {
  const dated = line.replace(/"\$\(date [^)]*\)"/g, '2000-01-01T00:00:00Z');
  const found = dated.matchAll(/'([^']*)'|(#.*$)|(\S+)/g);
  return [...found].flatMap(([, quoted, comment, plain]) => (comment ? [] : [quoted ?? plain ?? '']));
}

test('the catalog file of the page on selling can be loaded', () => {
  const example =
    codeBlocks(readGuide('operators/sell')).find(({ language }) => language === 'yaml')?.text ?? '';
  assert.equal(parseCatalogue(example, { sandbox: false }).plans[0]?.id, 's1');
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseCatalogue } from '../../src/domain/catalogue/parse.ts';
import { OperatorError } from '../../src/kernel/operator-error.ts';
import { runOperator } from '../../src/operator/run.ts';
import { SETTINGS } from '../../src/spec/settings.ts';
import { SWITCH_NAMES } from '../../src/spec/switches.ts';

const GUIDE = readFileSync(new URL('../../docs/operator-guide.md', import.meta.url), 'utf8');

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
  return [...list.matchAll(/^ {2}([a-z]+)/gm)]
    .map((match) => match[1] ?? '')
    .filter((name) => name !== 'help');
}

test('the guide names every setting and every switch', () => {
  const missing = [...Object.keys(SETTINGS), ...SWITCH_NAMES].filter((name) => !GUIDE.includes(name));
  assert.deepEqual(missing, []);
});

test('the guide shows every command', async () => {
  const names = await commands();
  assert.ok(names.length >= 9, names.join(' '));
  const all = await Promise.all(
    names.map(async (name) => {
      const inner = await commands(name);
      return inner.length > 0 ? inner.map((verb) => `${name} ${verb}`) : [name];
    }),
  );
  const missing = all.flat().filter((command) => !GUIDE.includes(`npx skerryd ${command}`));
  assert.deepEqual(missing, []);
});

test('every command of the guide is understood as it is written there', async () => {
  const lines = [...GUIDE.matchAll(/^npx skerryd (.*)$/gm)].map((match) => match[1] ?? '');
  assert.ok(lines.length > 40, `${lines.length} commands`);
  // What was ahead of its writer is behind its reader some day.
  assert.deepEqual(
    lines.filter((line) => /--(at|from|until) \d/.test(line)),
    [],
  );
  const refused: string[] = [];
  for (const line of lines) {
    const argv = splitWords(line);
    // The composition root brings it.
    if (argv[0] === 'serve') continue;
    const doors = {
      settings: () => [],
      database: () => Promise.reject(new OperatorError('opened')),
      service: () => Promise.reject(new OperatorError('opened')),
    };
    let said = '';
    const say = (text: string) => {
      said += text;
    };
    const code = await runOperator(argv, doors, undefined, { out: say, err: say, ask: null });
    if (code === 2) refused.push(`${line}: ${said}`);
  }
  assert.deepEqual(refused, []);
});

/** As a shell splits them: quotes hold together, a `#` begins a comment. */
function splitWords(line: string): string[] {
  const found = line.matchAll(/'([^']*)'|(#.*$)|(\S+)/g);
  return [...found].flatMap(([, quoted, comment, plain]) => (comment ? [] : [quoted ?? plain ?? '']));
}

test('the catalogue file that the guide shows can be loaded', () => {
  const example = /```yaml\n(.*?)```/s.exec(GUIDE)?.[1] ?? '';
  assert.equal(parseCatalogue(example, { sandbox: false }).plans[0]?.id, 's1');
});

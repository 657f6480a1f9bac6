/** The threat model in SECURITY.md names a test for each threat, or says that the risk is accepted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTree } from '../support/project-files.ts';

const SECTION = 'Threat model';
/** A row without the bars at both ends: threat, at stake, what stops it, tests. */
const CELLS = 4;

interface NamedTest {
  readonly title: string;
  readonly file: string;
}

function readSection(): string {
  const text = readTree(['SECURITY.md'], /./).get('SECURITY.md') ?? '';
  const from = text.indexOf(`\n## ${SECTION}\n`);
  return text.slice(from, text.indexOf('\n## ', from + 1));
}

/** Returns the rows of every table of the section, without their heads. */
function readRows(section: string): string[][] {
  return section
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| Threat |'))
    .map((line) => line.split('|').slice(1, -1));
}

function namedTests(text: string): NamedTest[] {
  return [...text.matchAll(/\[([^\]]+)\]\((test\/[^)]+)\)/g)].map(([, title = '', file = '']) => ({
    title,
    file,
  }));
}

/** Returns the titles of a file's tests. An expression in a title is `…`. */
function titlesOf(source: string): ReadonlySet<string> {
  const calls = source.matchAll(/\b(?:it|test)\(\s*(?:'((?:[^'\\]|\\.)*)'|"([^"]*)"|`((?:[^`\\]|\\.)*)`)/g);
  return new Set(
    [...calls].map(([, single, double, template]) =>
      (single ?? double ?? template ?? '').replaceAll(/\$\{[^}]*\}/g, '…').replaceAll('\\', ''),
    ),
  );
}

const SECTION_TEXT = readSection();

test('every test that the threat model names exists', () => {
  const sources = readTree(['test'], /\.test\.ts$/);
  const named = namedTests(SECTION_TEXT);
  assert.ok(named.length > 100, `${named.length} tests`);
  const titles = new Map<string, ReadonlySet<string>>();
  const missing = named.filter(({ title, file }) => {
    const known = titles.get(file) ?? titlesOf(sources.get(file) ?? '');
    titles.set(file, known);
    return !known.has(title);
  });
  assert.deepEqual(missing, []);
});

test('every threat has a test, or a reason why its risk is accepted', () => {
  const rows = readRows(SECTION_TEXT);
  assert.ok(rows.length > 50, `${rows.length} threats`);
  const incomplete = rows.filter(
    (cells) =>
      cells.length !== CELLS ||
      cells.slice(0, 3).some((cell) => cell.trim() === '') ||
      (namedTests(cells[3] ?? '').length === 0 && !/Accepted: \w/.test(cells[2] ?? '')),
  );
  assert.deepEqual(incomplete, []);
});

test('a title is found with its expressions, and in every kind of quotes', () => {
  const source = "it('a', f);\n  test(\n \"b’s 'c'\", f); it(`d $" + "{e(1)} f`, g); it('h\\'s', i);";
  assert.deepEqual([...titlesOf(source)], ['a', "b’s 'c'", 'd … f', "h's"]);
  assert.deepEqual(namedTests('| [a b](test/c.test.ts), [d](docs/e.md) |'), [
    { title: 'a b', file: 'test/c.test.ts' },
  ]);
});

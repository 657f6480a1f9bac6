/** Checks that links between the guides, and the paths that contributor guides name, exist. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const GUIDES = globSync(
  ['docs/{customers,contributors,decisions}/*.md', '{examples,integrations}/**/README.md'],
  { cwd: ROOT },
);
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Returns the anchors of a document as the panel and code forges derive them from headings. */
function anchorsOf(path: string): ReadonlySet<string> {
  const headings = [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, words = '']) => words);
  return new Set(
    headings.map((words) =>
      words
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]+/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

test('every link between the guides leads to an existing file and heading', () => {
  assert.ok(GUIDES.length > 30, `${GUIDES.length} guides`);
  const broken = GUIDES.flatMap((guide) =>
    [...read(guide).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
      if (/^(?:https?:|mailto:|\/)/.test(link)) return [];
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? guide : join(dirname(guide), file);
      const found = existsSync(join(ROOT, target)) && (anchor === undefined || anchorsOf(target).has(anchor));
      return found ? [] : [`${guide}: ${link}`];
    }),
  );
  assert.deepEqual(broken, []);
});

test('every path that a contributor guide names exists', () => {
  const missing = GUIDES.filter((guide) => guide.startsWith('docs/contributors/')).flatMap((guide) =>
    [...read(guide).matchAll(/`((?:src|test|packages|bench|scripts)\/[^`\s<…]+)`/g)].flatMap(
      ([, path = '']) => (globSync(path, { cwd: ROOT }).length > 0 ? [] : [`${guide}: ${path}`]),
    ),
  );
  assert.deepEqual(missing, []);
});

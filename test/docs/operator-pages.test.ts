/** The pages in docs/operators are complete and current: generated pages, links, and code blocks. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { commandsPage, settingsPage } from '../../scripts/operator-docs.ts';
import { SETTINGS } from '../../src/spec/settings.ts';
import { readGuide } from './docs-content.ts';

const FOLDER = new URL('../../docs/operators/', import.meta.url);
const PAGES = readdirSync(FOLDER).map((file) => file.replace('.md', ''));

/** The headings of a page as GitHub's anchors. */
function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^##+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
}

describe('the pages that npm run docs generates', () => {
  it('match the settings table and the commands; run npm run docs', () => {
    assert.equal(readGuide('operators/settings'), settingsPage());
    assert.equal(readGuide('operators/commands'), commandsPage());
  });

  it('list every setting once', () => {
    const rows = [...settingsPage().matchAll(/^\| `([A-Z_0-9]+)` \|/gm)].map(([, name]) => name);
    assert.deepEqual(rows.toSorted(), Object.keys(SETTINGS).toSorted());
  });

  it('list serve and doctor, which the composition root adds', () => {
    for (const name of ['serve', 'doctor']) assert.ok(commandsPage().includes(`\n## ${name}\n`), name);
    assert.ok(!commandsPage().includes('--child'));
  });
});

describe('the operator pages', () => {
  it('are all linked from their index', () => {
    const index = readGuide('operators/README');
    const missing = PAGES.filter((page) => page !== 'README' && !index.includes(`](${page}.md)`));
    assert.deepEqual(missing, []);
  });

  it('link only to pages and headings that exist', () => {
    const broken = PAGES.flatMap((page) => {
      const text = readGuide(`operators/${page}`);
      return [...text.matchAll(/\]\((?!https:)([^)#]*)(?:#([^)]+))?\)/g)].flatMap(
        ([link, path = '', part]) => {
          const file = path === '' ? `${page}.md` : path;
          if (!existsSync(new URL(file, FOLDER))) return [`${page}: ${link}`];
          const isOurs = !file.includes('/');
          const anchors = isOurs ? anchorsOf(readGuide(`operators/${file.replace('.md', '')}`)) : [];
          return part === undefined || anchors.includes(part) ? [] : [`${page}: ${link}`];
        },
      );
    });
    assert.deepEqual(broken, []);
  });

  it('name the language of every code block', () => {
    const bare = PAGES.filter((page) => {
      const fences = readGuide(`operators/${page}`).match(/^ *```.*$/gm) ?? [];
      return fences.some((fence, index) => index % 2 === 0 && !/```\w+$/.test(fence));
    });
    assert.deepEqual(bare, []);
  });
});

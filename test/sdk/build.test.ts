/** Replacement of the compiled packages while other processes run or compile them. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { listFiles, replaceFolder } from '../../scripts/replace-folder.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const MODULE = new URL('../../scripts/replace-folder.ts', import.meta.url).href;

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = scratchFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

it('a build deletes obsolete files and old leftovers, but not the unfinished files of another build', () => {
  const made = folderWith({ 'a.js': 'new', 'b/c.js': 'new' });
  const dist = folderWith({ 'a.js': 'old', 'gone.js': '', 'b/c.js.4242': 'half', 'a.js.4243': 'left' });
  const hourAgo = new Date(Date.now() - 3_600_000);
  utimesSync(join(dist, 'a.js.4243'), hourAgo, hourAgo);
  replaceFolder(made, dist);
  assert.deepEqual(listFiles(dist).sort(), ['a.js', 'b/c.js', 'b/c.js.4242']);
  assert.equal(readFileSync(join(dist, 'a.js'), 'utf8'), 'new');
});

it('two builds that run concurrently, over and over, both succeed', FULL_ONLY, async () => {
  const names = Array.from({ length: 60 }, (_, index) => `${index % 6}/${index}.js`);
  const dist = scratchFolder();
  const runs = ['one', 'two'].map((text) => {
    const made = folderWith(Object.fromEntries(names.map((name) => [name, text])));
    const code = `
      import { replaceFolder } from ${JSON.stringify(MODULE)};
      for (let round = 0; round < 20; round++) replaceFolder(...${JSON.stringify([made, dist])});`;
    return promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code]);
  });
  await Promise.all(runs);
  assert.deepEqual(listFiles(dist).sort(), [...names].sort());
});

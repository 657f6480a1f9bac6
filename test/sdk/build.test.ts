/** How the compiled packages come to their place, while others run or compile them, too. */
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

it('what another build is writing stays, and what one left behind long ago goes with all that is no longer made', () => {
  const made = folderWith({ 'a.js': 'new', 'b/c.js': 'new' });
  const dist = folderWith({ 'a.js': 'old', 'gone.js': '', 'b/c.js.4242': 'half', 'a.js.4243': 'left' });
  const hourAgo = new Date(Date.now() - 3_600_000);
  utimesSync(join(dist, 'a.js.4243'), hourAgo, hourAgo);
  replaceFolder(made, dist);
  assert.deepEqual(listFiles(dist).sort(), ['a.js', 'b/c.js', 'b/c.js.4242']);
  assert.equal(readFileSync(join(dist, 'a.js'), 'utf8'), 'new');
});

it('two that do it at once, over and over, both come through', FULL_ONLY, async () => {
  const names = Array.from({ length: 60 }, (_, index) => `${index % 6}/${index}.js`);
  const dist = scratchFolder();
  const runs = ['one', 'two'].map((text) => {
    const made = folderWith(Object.fromEntries(names.map((name) => [name, text])));
    const code = `
      import { replaceFolder } from ${JSON.stringify(MODULE)};
      for (let turn = 0; turn < 20; turn++) replaceFolder(...${JSON.stringify([made, dist])});`;
    return promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code]);
  });
  await Promise.all(runs);
  assert.deepEqual(listFiles(dist).sort(), [...names].sort());
});

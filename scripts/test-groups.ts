/**
 * Groups test files so that several share one process. Starting a process and loading the service takes
 * longer than most files need for their tests.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Folders whose files set up everything they use and tear it down again. */
const SHARED_FOLDERS = new RegExp(
  '^test/(?:compose|domain|drivers(?!/(?:evm|monero|qemu|utxo)/)|http|kernel)/|' +
    '^test/(?:operator|panel|spec|store|workers)/|^test/config',
);
/** A file that starts programs or changes its process runs alone. */
const RUNS_ALONE = new RegExp(
  'child_process|worker_threads|support\\/(?:process|chromium|firefox|installed|pdns)|' +
    'process\\.(?:exit|chdir|on)\\b|globalThis|mock\\.timers',
);
const FILES_PER_GROUP = 8;

/**
 * Returns the files for Node's test runner: single files, and generated files in `folder` that import one
 * group each.
 */
export function groupTestFiles(files: readonly string[], root: string, folder: string): string[] {
  const shared = files.filter((file) => canShare(file, root));
  const single = files.filter((file) => !shared.includes(file));
  const groups = Array.from({ length: Math.ceil(shared.length / FILES_PER_GROUP) }, (_, index) =>
    shared.slice(index * FILES_PER_GROUP, (index + 1) * FILES_PER_GROUP),
  );
  return [...single, ...groups.map((group, index) => writeGroup(group, index, root, folder))];
}

function canShare(file: string, root: string): boolean {
  return SHARED_FOLDERS.test(relative(root, file)) && !RUNS_ALONE.test(readFileSync(file, 'utf8'));
}

function writeGroup(files: readonly string[], index: number, root: string, folder: string): string {
  const suites = files.map((file) => {
    const [name, url] = [relative(root, file), pathToFileURL(file).href].map((text) => JSON.stringify(text));
    return `describe(${name}, async () => { await import(${url}); });\n`;
  });
  const path = join(folder, `group-${index + 1}.test.ts`);
  writeFileSync(path, `import { describe } from 'node:test';\n${suites.join('')}`);
  return path;
}

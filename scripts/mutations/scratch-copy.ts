/** A copy of the project in which one file at a time is changed. */
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Mutation } from '../../test/mutations/mutation.ts';
import { scratchParent } from '../scratch-parent.ts';

/** Files that the tests of mutations do not need, or that are linked. */
const LEFT_OUT = /^(?:\.git|node_modules|data|coverage|release|docs\/screenshots)$|(?:^|\/)node_modules$/;
/** Everyone may write here, as in the system's folder: the database runs as another user. */
const SHARED = 0o1777;

export interface ScratchCopy {
  /** The root of the copy. */
  readonly root: string;
  /** For temporary files of the tests. */
  readonly temporary: string;
  /** The empty folder for the database. */
  readonly database: string;
  /** Changes the copy, runs the work, and changes it back. */
  withMutation<T>(mutation: Mutation, work: () => Promise<T>): Promise<T>;
  remove(): Promise<void>;
}

export async function createScratchCopy(project: string): Promise<ScratchCopy> {
  const folder = await mkdtemp(join(await scratchParent(), 'skerry-mut-'));
  const root = join(folder, 'copy');
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  const temporary = join(folder, 'tmp');
  try {
    await chmod(folder, 0o755);
    // The compiler compares times of files, so a copy with other times would be compiled again.
    await cp(project, root, {
      recursive: true,
      preserveTimestamps: true,
      filter: (path) => !LEFT_OUT.test(relative(project, path)),
    });
    await symlink(join(project, 'node_modules'), join(root, 'node_modules'));
    await mkdir(temporary);
    await chmod(temporary, SHARED);
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    root,
    temporary,
    database: join(folder, 'data'),
    remove,
    withMutation: async (mutation, work) => {
      const path = join(root, mutation.file);
      const text = await readFile(path, 'utf8');
      await writeFile(path, mutate(text, mutation));
      try {
        return await work();
      } finally {
        await writeFile(path, text);
      }
    },
  };
}

/** Returns the file's text with the fault. Throws unless the place to change occurs exactly once. */
export function mutate(text: string, { name, file, find, replace }: Mutation): string {
  const [before, after, ...more] = text.split(find);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`${name}: the text to change does not occur exactly once in ${file}`);
  }
  return before + replace + after;
}

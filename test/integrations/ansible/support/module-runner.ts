/** Runs modules of the collection in one process of Python, without the seconds that Ansible adds to each. */
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startProgram } from '../../../cli/support/start-program.ts';
import { withTimeout } from '../../../cli/support/with-timeout.ts';
import type { JsonBody } from '../../../support/v1-client.ts';
import { COLLECTION, PYTHON } from './ansible.ts';

const SCRIPT = fileURLToPath(new URL('run_modules.py', import.meta.url));
const DEADLINE_MS = 10 * 60_000;

export interface ModuleRunner {
  /** Runs a module and returns its result. */
  run(module: string, options: object): Promise<JsonBody>;
  /** The same in check mode. */
  check(module: string, options: object): Promise<JsonBody>;
  /** Everything that modules have printed. */
  output(): string;
  stop(): Promise<void>;
}

/** Starts Python with the collection as it is in the checkout. */
export async function startModuleRunner(env: Readonly<Record<string, string>>): Promise<ModuleRunner> {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-modules-'));
  await mkdir(join(folder, 'ansible_collections/skerry'), { recursive: true });
  await symlink(COLLECTION, join(folder, 'ansible_collections/skerry/cloud'));
  const fullEnv = { PATH: process.env.PATH ?? '', HOME: folder, PYTHONPATH: folder, LANG: 'C.UTF-8', ...env };
  const options = { env: fullEnv, cwd: folder, deadlineMs: DEADLINE_MS };
  // -B: no compiled files in the checkout.
  const { child, printed, result, stop } = startProgram([PYTHON, '-B', SCRIPT], options);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = result.then(({ stderr }) => Promise.reject(new Error(`Python ended: ${stderr}`)));
  ended.catch(() => {});
  const run = async (module: string, options: object, check: boolean) => {
    child.stdin.write(`${JSON.stringify({ module, options, check })}\n`);
    const line = await withTimeout(Promise.race([lines.next(), ended]), `the result of ${module}`);
    return line.done ? await ended : (JSON.parse(line.value) as JsonBody);
  };
  return {
    run: (module, options) => run(module, options, false),
    check: (module, options) => run(module, options, true),
    output: () => `${printed.stdout}${printed.stderr}`,
    stop: async () => {
      child.stdin.end();
      await result;
      stop();
      await rm(folder, { recursive: true });
    },
  };
}

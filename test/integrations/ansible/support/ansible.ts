/** Runs Ansible with the collection, built and installed as users do, against a service. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ProgramResult, startProgram } from '../../../cli/support/start-program.ts';
import { findProgram, skipUnlessInstalled } from '../../../support/installed-programs.ts';
import { FULL_ONLY } from '../../../support/runs.ts';
import type { JsonBody } from '../../../support/v1-client.ts';

export const COLLECTION = fileURLToPath(new URL('../../../../integrations/ansible/', import.meta.url));
/** Far above any normal run time: a playbook has a dozen tasks, each a process of Python. */
const DEADLINE_MS = 180_000;

const PROGRAM = findProgram(['ansible-playbook']);
/** The reason to skip tests that need Ansible, or false. */
export const SKIP: string | false = skipUnlessInstalled(PROGRAM, 'ansible-core is not installed');
/** The same for slow tests. */
export const SKIP_SLOW: string | false = SKIP || FULL_ONLY.skip;
/** The Python that has Ansible's packages. */
export const PYTHON =
  /^#!\s*(\S+)/.exec(PROGRAM === null ? '' : readFileSync(PROGRAM, 'utf8'))?.[1] ?? 'python3';

/** A task: its module with the options, and keywords such as `check_mode`. */
export interface Task {
  readonly [keyword: string]: unknown;
}

type Tasks = Readonly<Record<string, Task>>;

export interface PlayExtras {
  readonly variables: object;
  /** Options of all modules of the collection. */
  readonly defaults: object;
  readonly env: Readonly<Record<string, string>>;
}

export interface Ansible {
  readonly folder: string;
  /** The folder with the installed collection. */
  readonly collections: string;
  /** Everything that Ansible has printed. */
  output(): string;
  /** Runs a program of Ansible, and returns its result. */
  run(...words: readonly string[]): Promise<ProgramResult>;
  /** Runs tasks with -vvv; returns their results by name. The play goes on after a failed task. */
  play(tasks: Tasks, extras: PlayExtras): Promise<Record<string, JsonBody>>;
  /** Writes a file to the folder and returns its path. */
  write(name: string, content: object | string): Promise<string>;
  close(): Promise<void>;
}

/** Installs the collection into a new folder. */
export async function installAnsible(env: Readonly<Record<string, string>> = {}): Promise<Ansible> {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-ansible-'));
  const collections = join(folder, 'collections');
  await mkdir(join(folder, 'tmp'));
  const fullEnv = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    LANG: 'C.UTF-8',
    ANSIBLE_COLLECTIONS_PATH: collections,
    ANSIBLE_LOCAL_TEMP: join(folder, 'tmp'),
    ANSIBLE_REMOTE_TEMP: join(folder, 'tmp'),
    ANSIBLE_LOCALHOST_WARNING: 'false',
    ANSIBLE_PIPELINING: 'true',
    ANSIBLE_NOCOLOR: '1',
    ...env,
  };
  let output = '';
  const run = async (...words: readonly string[]) => {
    const started = startProgram(words, { env: fullEnv, cwd: folder, deadlineMs: DEADLINE_MS });
    started.child.stdin.end();
    const result = await started.result;
    output += `${result.stdout}${result.stderr}`;
    return result;
  };
  const write = async (name: string, content: object | string) => {
    await writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
    return join(folder, name);
  };
  await runOrFail(run, 'ansible-galaxy', 'collection', 'build', COLLECTION, '--output-path', folder);
  const galaxy = await readFile(join(COLLECTION, 'galaxy.yml'), 'utf8');
  const version = /^version: (\S+)$/m.exec(galaxy)?.[1] ?? assert.fail('galaxy.yml has no version');
  const tarball = join(folder, `skerry-cloud-${version}.tar.gz`);
  await runOrFail(run, 'ansible-galaxy', 'collection', 'install', tarball);
  return {
    folder,
    collections,
    output: () => output,
    run,
    write,
    play: async (tasks, extras) => {
      await write('play.yml', [playOf(tasks, extras, join(folder, 'results.json'))]);
      const { stdout, stderr } = await runOrFail(run, 'ansible-playbook', '-vvv', '--diff', 'play.yml');
      const results = JSON.parse(await readFile(join(folder, 'results.json'), 'utf8')) as JsonBody[];
      assert.equal(results.length, Object.keys(tasks).length, `${stdout}${stderr}`);
      return Object.fromEntries(Object.keys(tasks).map((name, index) => [name, results[index]]));
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A play whose last task writes the results of the others to a file. JSON is YAML. */
function playOf(tasks: Tasks, { variables, defaults, env }: PlayExtras, path: string): object {
  const names = Object.keys(tasks);
  const steps = names.map((name, index) => ({ name, ...tasks[name], register: `result_${index}` }));
  const content = `{{ [${names.map((_, index) => `result_${index}`).join(', ')}] | to_json }}`;
  const report = { 'ansible.builtin.copy': { content, dest: path }, check_mode: false, diff: false };
  return {
    hosts: 'localhost',
    gather_facts: false,
    ignore_errors: true,
    vars: variables,
    environment: env,
    module_defaults: { 'group/skerry.cloud.skerry': defaults },
    tasks: [...steps, { name: 'write the results', ...report }],
  };
}

async function runOrFail(run: Ansible['run'], ...words: readonly string[]): Promise<ProgramResult> {
  const result = await run(...words);
  assert.equal(result.code, 0, `${words.join(' ')}\n${result.stdout}${result.stderr}`);
  return result;
}

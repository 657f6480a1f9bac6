/** Runs a command's example as it is shown, in a shell, and says which operations it called. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Command } from '../../../packages/cli/src/command.ts';
import { beginProgram } from './begin.ts';
import { type ExampleAccount, keepContexts } from './example-account.ts';
import { NEEDS, type Need } from './example-needs.ts';
import { startRecorder } from './recorder.ts';

/** What stands for an id in examples and in the API's reference. */
const PLACEHOLDER = /\b([a-z]+)_aaaqk3m7qzb5x2l6v4t7n8wyja\b/g;
/** The host of examples. */
const HOST = 'https://skerry.example';
const INTERRUPTED = 130;

/** Fails the test unless it leaves as it should, having called what its row says and nothing else. */
export async function runExample(row: Command, account: ExampleAccount): Promise<void> {
  const need = NEEDS[row.name] ?? {};
  keepContexts(account, need.contexts ?? ['work']);
  await need.before?.(account);
  const recorder = await startRecorder(account.world.url);
  try {
    const line = row.example
      .replace(PLACEHOLDER, (_all, prefix: string) => idOf(account, prefix, row))
      .replaceAll(HOST, recorder.url);
    const run = async (text: string) => {
      const { code, said } = await typed(text, recorder.url, account, need);
      assert.equal(code, need.until ? INTERRUPTED : 0, `${text}\n${said}`);
      const called = [...new Set(recorder.taken())];
      const known: readonly string[] = [...row.does, ...(need.beside ?? [])];
      const strange = called.filter((id) => !known.includes(id));
      assert.deepEqual(strange, [], `${row.name} calls more than its row says`);
      return called;
    };
    const called = await run(line);
    const [first] = row.does;
    if (first === undefined || called.includes(first)) return;
    // What is told by name is found in a list that holds all of it; told by id, it is asked for by itself.
    assert.match(first, /\.get$/, `${line}\ncalls ${called.join(', ')}, not ${first}`);
    assert.ok(
      (await run(byId(line, account))).includes(first),
      `${byId(line, account)} does not call ${first}`,
    );
  } finally {
    await recorder.stop();
  }
}

function idOf({ nameless }: ExampleAccount, prefix: string, { name }: Command): string {
  return nameless[prefix] ?? assert.fail(`${name}: the account has nothing whose id begins with ${prefix}_`);
}

function byId(line: string, { named }: ExampleAccount): string {
  return line.replace(/\S+/g, (word) => (Object.hasOwn(named, word) ? String(named[word]) : word));
}

interface Typed {
  readonly code: number | null;
  readonly said: string;
}

async function typed(line: string, url: string, account: ExampleAccount, need: Need): Promise<Typed> {
  const { folder, token } = account;
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    HOME: folder,
    SKERRY_API_URL: url,
    SKERRY_TOKEN: token,
  };
  const { child, said, end, stop } = beginProgram(['sh', '-c', `trap : INT; ${line}`], { env, cwd: folder });
  const { promise: failed, reject } = Promise.withResolvers<never>();
  let isMeanwhile = false;
  let isOver = false;
  child.stdout.on('data', () => {
    if (!isOver && need.until?.test(said.stdout)) {
      isOver = true;
      // To its group: Ctrl-C goes to the shell, which waits for the end of what it runs, and to that.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
    }
    if (!isMeanwhile && need.meanwhile?.when.test(said.stdout)) {
      isMeanwhile = true;
      need.meanwhile.then(account).catch(reject);
    }
  });
  child.stdin.end();
  try {
    const { code, stdout, stderr } = await Promise.race([end, failed]);
    return { code, said: `${stdout}${stderr}` };
  } finally {
    stop();
  }
}

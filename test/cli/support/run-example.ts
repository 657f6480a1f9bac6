/** Runs a command's example as it is shown, in a shell, and says which operations it called. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Command } from '../../../packages/cli/src/command.ts';
import { type ExampleAccount, saveContexts } from './example-account.ts';
import { EXAMPLE_SETUPS, type ExampleSetup } from './example-setups.ts';
import { startRecorder } from './recorder.ts';
import { startProgram } from './start-program.ts';

/** What stands for an id in examples and in the API's reference. */
const PLACEHOLDER = /\b([a-z]+)_aaaqk3m7qzb5x2l6v4t7n8wyja\b/g;
/** The host of examples. */
const HOST = 'https://skerry.example';
const INTERRUPTED = 130;

/** Fails the test unless it leaves as it should, having called what its row says and nothing else. */
export async function runExample(row: Command, account: ExampleAccount): Promise<void> {
  const setup = EXAMPLE_SETUPS[row.name] ?? {};
  saveContexts(account, setup.contexts ?? ['work']);
  await setup.before?.(account);
  const recorder = await startRecorder(account.world.url);
  try {
    const line = row.example
      .replace(PLACEHOLDER, (_all, prefix: string) => idOf(account, prefix, row))
      .replaceAll(HOST, recorder.url);
    const run = async (text: string) => {
      const { code, output } = await runLine(text, recorder.url, account, setup);
      assert.equal(code, setup.interruptAfter ? INTERRUPTED : 0, `${text}\n${output}`);
      const called = [...new Set(recorder.takeRecorded())];
      const known: readonly string[] = [...row.operations, ...(setup.extraOperations ?? [])];
      const strange = called.filter((id) => !known.includes(id));
      assert.deepEqual(strange, [], `${row.name} calls more than its row says`);
      return called;
    };
    const called = await run(line);
    const [first] = row.operations;
    if (first === undefined || called.includes(first)) return;
    // What is told by name is found in a list that holds all of it; told by id, it is asked for by itself.
    assert.match(first, /\.get$/, `${line}\ncalls ${called.join(', ')}, not ${first}`);
    assert.ok(
      (await run(withIds(line, account))).includes(first),
      `${withIds(line, account)} does not call ${first}`,
    );
  } finally {
    await recorder.stop();
  }
}

function idOf({ unnamed }: ExampleAccount, prefix: string, { name }: Command): string {
  return unnamed[prefix] ?? assert.fail(`${name}: the account has nothing whose id begins with ${prefix}_`);
}

function withIds(line: string, { named }: ExampleAccount): string {
  return line.replace(/\S+/g, (word) => (Object.hasOwn(named, word) ? String(named[word]) : word));
}

interface LineResult {
  readonly code: number | null;
  readonly output: string;
}

async function runLine(
  line: string,
  url: string,
  account: ExampleAccount,
  setup: ExampleSetup,
): Promise<LineResult> {
  const { folder, token } = account;
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    HOME: folder,
    SKERRY_API_URL: url,
    SKERRY_TOKEN: token,
  };
  const { child, printed, result, stop } = startProgram(['sh', '-c', `trap : INT; ${line}`], {
    env,
    cwd: folder,
  });
  const { promise: failed, reject } = Promise.withResolvers<never>();
  let isMeanwhile = false;
  let isOver = false;
  child.stdout.on('data', () => {
    if (!isOver && setup.interruptAfter?.test(printed.stdout)) {
      isOver = true;
      // To its group: Ctrl-C goes to the shell, which waits for the end of what it runs, and to that.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
    }
    if (!isMeanwhile && setup.meanwhile?.when.test(printed.stdout)) {
      isMeanwhile = true;
      setup.meanwhile.then(account).catch(reject);
    }
  });
  child.stdin.end();
  try {
    const { code, stdout, stderr } = await Promise.race([result, failed]);
    return { code, output: `${stdout}${stderr}` };
  } finally {
    stop();
  }
}

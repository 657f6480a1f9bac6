/** Runs the example of a command as shown, in a shell, and checks the operations that it calls. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Command } from '../../../packages/cli/src/command.ts';
import { type ExampleAccount, saveContexts } from './example-account.ts';
import { EXAMPLE_SETUPS, type ExampleSetup } from './example-setups.ts';
import { startRecorder } from './recorder.ts';
import { startProgram } from './start-program.ts';

/** The placeholder of an ID in examples and in the API reference. */
const PLACEHOLDER = /\b([a-z]+)_aaaqk3m7qzb5x2l6v4t7n8wyja\b/g;
/** The host in examples. */
const HOST = 'https://skerry.example';
const INTERRUPTED = 130;

/** Fails the test unless the exit code is as expected and exactly the operations of the row are called. */
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
      const unexpected = called.filter((id) => !known.includes(id));
      assert.deepEqual(unexpected, [], `${row.name} calls operations that its row does not name`);
      return called;
    };
    const called = await run(line);
    const [first] = row.operations;
    if (first === undefined || called.includes(first)) return;
    // A resource named by its name is found in a list; named by its ID, it is fetched with the first
    // operation.
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
  return unnamed[prefix] ?? assert.fail(`${name}: the account has no resource with the ID prefix ${prefix}_`);
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
  const command = ['sh', '-c', `trap : INT; ${line}`];
  const { child, printed, result, stop } = startProgram(command, { env, cwd: folder });
  const { promise: failed, reject } = Promise.withResolvers<never>();
  let isMeanwhile = false;
  let isOver = false;
  child.stdout.on('data', () => {
    if (!isOver && setup.interruptAfter?.test(printed.stdout)) {
      isOver = true;
      // Like Ctrl-C, signal the whole group: the shell waits for the command, and the command is interrupted.
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

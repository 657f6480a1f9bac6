/** Runs the CLI commands of the guides in a shell, against a service with a new customer for each text. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProgram } from '../cli/support/start-program.ts';
import { publicKey } from '../panel/support/estate.ts';
import { isoFile } from '../support/iso.ts';
import { createApiToken, type JsonBody, V1Client } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';

const BIN = fileURLToPath(new URL('../../packages/cli/bin/skerry.js', import.meta.url));
const BALANCE_CENTS = 50_000n;
/** A text has dozens of commands, each a separate process. */
const SCRIPT_TIMEOUT_MS = 5 * 60_000;
/** How far the clock advances at a time while a command waits. */
const CLOCK_STEP_S = 10;

export interface CliRunner {
  /** Runs the text in a shell; returns its stdout. Meanwhile time passes and pending top-ups are paid. */
  run(text: string, files?: Readonly<Record<string, string>>): Promise<string>;
  close(): Promise<void>;
}

export async function startCliRunner(): Promise<CliRunner> {
  const world = await startWorld({ SKERRY_RATE_CAPACITY: '1000' });
  return {
    run: async (text, files = {}) => {
      const token = await createCustomer(world);
      const folder = await createFolder({
        ...files,
        'token.txt': token,
        'other-token.txt': await createCustomer(world),
      });
      try {
        return await runScript(world, V1Client.forUrl(world.url, token), folder, text);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    close: () => world.close(),
  };
}

async function createCustomer(world: World): Promise<string> {
  const customer = await world.customer();
  await world.addBalance(customer, BALANCE_CENTS);
  return await createApiToken(customer);
}

async function createFolder(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-typed-'));
  for (const inner of ['bin', '.ssh']) await mkdir(join(folder, inner));
  await symlink(BIN, join(folder, 'bin/skerry'));
  await writeFile(join(folder, '.ssh/id_ed25519.pub'), `${publicKey(1, 'me@laptop')}\n`);
  await writeFile(join(folder, 'rescue.iso'), isoFile());
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), `${text}\n`);
  return folder;
}

async function runScript(world: World, api: V1Client, folder: string, text: string): Promise<string> {
  const env = { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, HOME: folder };
  const script = `set -euo pipefail\n${text.replaceAll('https://skerry.example', world.url)}`;
  const options = { cwd: folder, env, deadlineMs: SCRIPT_TIMEOUT_MS };
  const { child, result, stop } = startProgram(['bash', '-c', script], options);
  child.stdin.end();
  let isDone = false;
  const markDone = () => {
    isDone = true;
  };
  result.then(markDone, markDone);
  try {
    while (!isDone) {
      await payPendingTopups(world, api);
      await world.advance(CLOCK_STEP_S);
    }
    const { code, stdout, stderr } = await result;
    assert.equal(code, 0, `${stdout}${stderr}`);
    return stdout;
  } finally {
    stop();
  }
}

async function payPendingTopups(world: World, api: V1Client): Promise<void> {
  const { body } = await api.get('/billing/topup?filter[status]=pending');
  for (const { coin, deposit_address: address, deposit_amount: amount } of body.data as JsonBody[]) {
    await world.sandbox('payments', { coin, address, amount });
    await world.sandbox('blocks', { coin, count: 30 });
  }
}

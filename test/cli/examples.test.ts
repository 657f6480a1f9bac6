/** Runs the example of every command, as shown in help and the API reference, against a real service. */
import assert from 'node:assert/strict';
import { after, before, describe, it, test } from 'node:test';
import type { Command } from '../../packages/cli/src/command.ts';
import { COMMANDS } from '../../packages/cli/src/commands/index.ts';
import { IS_FULL_RUN } from '../support/runs.ts';
import {
  createExampleAccount,
  type ExampleAccount,
  type ExampleWorld,
  startExampleWorld,
} from './support/example-account.ts';
import { EXAMPLE_SETUPS, NOT_RUN } from './support/example-setups.ts';
import { OPERATIONS } from './support/recorder.ts';
import { runExample } from './support/run-example.ts';

/** A smoke test for `npm test`; `npm run test:full` runs all examples. */
const FEW = ['server list', 'volume describe', 'firewall create', 'events'];

test('the setups and exceptions of examples name existing commands', () => {
  const names = COMMANDS.map(({ name }) => name);
  assert.deepEqual(
    [...FEW, ...Object.keys(EXAMPLE_SETUPS), ...Object.keys(NOT_RUN)].filter((name) => !names.includes(name)),
    [],
  );
});

/** Whether a command leaves the account unchanged, so that examples can share one. */
function onlyReads({ operations }: Command): boolean {
  return operations.every((id) => OPERATIONS.find((one) => one.id === id)?.method === 'GET');
}

describe('examples of commands', () => {
  const rows = COMMANDS.filter(({ name }) => !(name in NOT_RUN) && (IS_FULL_RUN || FEW.includes(name)));
  let world: ExampleWorld;
  let shared: ExampleAccount;
  before(async () => {
    world = await startExampleWorld();
    shared = await createExampleAccount(world);
  });
  after(() => world.close());

  for (const row of rows) {
    it(`the example of skerry ${row.name} works and calls the operations in its row`, async () => {
      const isShared = onlyReads(row) || !IS_FULL_RUN;
      await runExample(row, isShared ? shared : await createExampleAccount(world));
    });
  }
});

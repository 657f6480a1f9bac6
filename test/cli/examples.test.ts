/** Every command's example, as help and the API's reference show it, does what its row says, at a real service. */
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

/** Enough in `npm test` to notice that nothing works: `npm run test:full` runs them all. */
const FEW = ['server list', 'volume describe', 'firewall create', 'events'];

test('what is said of an example is said of a command that there is', () => {
  const names = COMMANDS.map(({ name }) => name);
  assert.deepEqual(
    [...FEW, ...Object.keys(EXAMPLE_SETUPS), ...Object.keys(NOT_RUN)].filter((name) => !names.includes(name)),
    [],
  );
});

/** What only reads leaves the account as it was. */
function onlyReads({ operations }: Command): boolean {
  return operations.every((id) => OPERATIONS.find((one) => one.id === id)?.method === 'GET');
}

describe('the example', () => {
  const rows = COMMANDS.filter(({ name }) => !(name in NOT_RUN) && (IS_FULL_RUN || FEW.includes(name)));
  let world: ExampleWorld;
  let shared: ExampleAccount;
  before(async () => {
    world = await startExampleWorld();
    shared = await createExampleAccount(world);
  });
  after(() => world.close());

  for (const row of rows) {
    it(`of skerry ${row.name} does what its row says`, async () => {
      const isShared = onlyReads(row) || !IS_FULL_RUN;
      await runExample(row, isShared ? shared : await createExampleAccount(world));
    });
  }
});

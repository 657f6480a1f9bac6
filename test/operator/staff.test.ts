import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readStaffLog } from '../../src/domain/staff/log.ts';
import { startTestService, type TestService } from '../support/test-service.ts';
import { type CommandResult, runCommand } from './operator-fixture.ts';

const ANN = 'ann@host.example';

describe('skerryd staff', () => {
  let world: TestService;
  before(async () => {
    world = await startTestService();
  });
  after(() => world.close());

  async function operate(...argv: readonly string[]): Promise<CommandResult> {
    const { service } = world;
    return await runCommand(
      { service, register: async () => undefined, carryOut: async () => undefined, coins: null },
      argv,
    );
  }

  async function run(...argv: readonly string[]): Promise<string> {
    const { code, out, err } = await operate(...argv);
    assert.equal(code, 0, `${argv.join(' ')}: ${err}`);
    return out;
  }

  it('keeps every command that changes something in the staff log', async () => {
    await run('staff', 'invite', ANN, '--name', 'Ann', '--role', 'support');
    await run('staff', 'role', ANN, 'finance');
    const token = await run('staff', 'tokens', 'create', ANN, '--name', 'ci', '--role', 'read_only');
    assert.match(token, /^skerry_staff_/);
    const list = await run('staff', 'tokens', 'list', ANN);
    assert.ok(!list.includes(token));
    await run('staff', 'tokens', 'revoke', ANN, /stk_\w+/.exec(list)?.[0] ?? '');
    await run('staff', 'end-sessions', ANN);
    await run('staff', 'disable', ANN);
    const { entries } = await readStaffLog(world.service, { limit: 20 });
    const done = entries.map(({ operation, surface, result, email }) => [operation, surface, result, email]);
    const operations = ['invite', 'set_role', 'end_sessions', 'disable'].map((name) => `staff.${name}`);
    operations.splice(2, 0, 'staff_tokens.create', 'staff_tokens.revoke');
    const expected = operations.map((operation) => [operation, 'command', 'ok', null]);
    // Entries of one millisecond have no order.
    assert.deepEqual(done.sort(), expected.sort());
  });

  it('shows people, and what was done', async () => {
    assert.match(await run('staff', 'list'), /ann@host\.example +Ann +finance +disabled/);
    assert.match(await run('staff', 'show', ANN), /status +disabled/);
    assert.match(await run('staff', 'log'), /staff\.set_role/);
    const refused = await operate('staff', 'show', 'nobody@host.example');
    assert.equal(refused.code, 1);
    assert.match(refused.err, /No person has this id or email address/);
  });

  it('invites the only owner again, who may have lost their phone', async () => {
    await run('staff', 'invite', 'owner@host.example', '--name', 'Owner', '--role', 'owner');
    await run('staff', 'invite', 'owner@host.example', '--name', 'Owner', '--role', 'owner');
  });
});

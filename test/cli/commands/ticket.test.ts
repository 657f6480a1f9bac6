import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createExampleAccount, type ExampleAccount, startExampleWorld } from '../support/example-account.ts';
import { type Cli, createCli } from '../support/run-cli.ts';

describe('skerry ticket', () => {
  let account: ExampleAccount;
  let cli: Cli;
  before(async () => {
    account = await createExampleAccount(await startExampleWorld());
    cli = createCli({ url: account.world.url, token: account.token });
  });
  after(() => account.world.close());

  it('opens, lists, answers, and closes a ticket', async () => {
    const created = await cli.json('ticket', 'create', '--subject', 'A disk', '--text', 'It is full.');
    const { id } = created;
    assert.deepEqual([created.status, created.messages[0].text], ['open', 'It is full.']);
    const replied = await cli.json('ticket', 'reply', id, '--text', 'Solved.');
    assert.equal(replied.messages.length, 2);
    assert.equal((await cli.json('ticket', 'close', id)).status, 'closed');
    const { stdout } = await cli(
      'tickets',
      'ls',
      '--status',
      'closed',
      '-o',
      'columns=id,subject',
      '--no-header',
    );
    assert.equal(stdout.trim().replace(/ +/, ' '), `${id} A disk`);
    const shown = await cli('ticket', 'describe', id);
    assert.match(shown.stdout, /customer: It is full\./);
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { reportFindings } from '../../src/operator/format/findings.ts';
import { createOutput } from '../../src/operator/format/output.ts';
import { buildProgram } from '../../src/operator/run.ts';
import { type OperatorFixture, openOperatorFixture } from './operator-fixture.ts';

describe('the output of operator commands', () => {
  let fixture: OperatorFixture;
  before(async () => {
    fixture = await openOperatorFixture();
  });
  after(() => fixture.backend.close());

  /** The commands that list something without an argument. */
  function lists(): string[] {
    const terminal = createOutput({ out: () => {}, err: () => {}, ask: null });
    const program = buildProgram({ resources: {} as never, terminal }, () => undefined);
    return program.commands.flatMap((group) =>
      group.commands
        .filter(
          (each) => each.name() === 'list' && !each.registeredArguments.some(({ required }) => required),
        )
        .map((each) => `${group.name()} ${each.name()}`),
    );
  }

  it('is one JSON or YAML document for each list', async () => {
    const commands = lists();
    assert.ok(commands.includes('servers list') && commands.length > 8, commands.join());
    for (const command of commands) {
      const words = command.split(' ');
      const json = await fixture.run([...words, '-o', 'json']);
      const rows = json.out === '' ? [] : (JSON.parse(json.out) as unknown);
      assert.ok(typeof rows === 'object' && rows !== null, `${command}: ${json.out}`);
      const yaml = await fixture.run(['--output', 'yaml', ...words]);
      assert.deepEqual(yaml.out === '' ? [] : parse(yaml.out), rows, command);
    }
  });

  it('has findings with their levels', () => {
    const printed: string[] = [];
    const output = createOutput({ out: (line) => void printed.push(line), err: () => {}, ask: null });
    output.setFormat('json');
    reportFindings([{ level: 'ok', subject: 'database', message: 'connected' }], output);
    output.end();
    const found = [{ level: 'OK', subject: 'database', message: 'connected' }];
    assert.deepEqual(JSON.parse(printed.join('\n')), found);
  });

  it('has what a command says in messages', async () => {
    const { out, err } = await fixture.run([
      ...['incidents', 'create', '--title', 'Slow disks', '--text', 'We look.', '-o', 'json'],
    ]);
    assert.notEqual(out, '', err);
    const { messages } = JSON.parse(out) as { messages: string[] };
    assert.match(messages.join(' '), /^inc_\w+ is published$/);
  });

  it('refuses an unknown format', async () => {
    assert.equal((await fixture.run(['status', '-o', 'xml'])).code, 2);
  });
});

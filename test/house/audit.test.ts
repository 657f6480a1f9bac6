import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ACTIONS } from '../../src/spec/actions.ts';
import { readTree } from './tree.ts';

/** Files that tell a customer by an event and write no audit row, and why. */
const UNAUDITED_FILES: Record<string, string> = {
  'src/domain/servers/charge-cycle.ts': 'its callers renew, resume and start',
  'src/domain/servers/resume.ts': 'its callers say who resumes',
  'src/domain/servers/suspend.ts': 'its callers say who suspends',
  'src/domain/firewall/applied-to.ts': 'its callers create and update groups',
  'src/domain/servers/apply-freeze.ts': 'the operator’s command has its row since he gave it',
  'src/domain/billing/low-balance.ts': 'it changes nothing',
};
/** Named by what is done: `server.${action}`. */
const ACTIONS_BY_OPERATION = ['server.stop', 'server.start', 'server.reboot', 'server.rescue'];

test('who tells of a change by an event writes it into the audit log, too', () => {
  const silent = [...readTree(['src/domain', 'src/workers'], /\.ts$/)]
    .filter(([, text]) => /\brecordEvent\(/.test(text) && !/\brecordAudit\(/.test(text))
    .map(([path]) => path);
  assert.deepEqual(silent.sort(), Object.keys(UNAUDITED_FILES).sort());
});

test('every action of the table is written somewhere', () => {
  const texts = [...readTree(['src/domain', 'src/store'], /\.ts$/)].map(([, text]) => text).join('\n');
  const unused = ACTIONS.filter((action) => !texts.includes(`'${action}'`));
  assert.deepEqual(
    unused.filter((action) => !ACTIONS_BY_OPERATION.includes(action)),
    [],
  );
});

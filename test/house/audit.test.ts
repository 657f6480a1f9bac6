import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ACTIONS } from '../../src/spec/actions.ts';
import { readTree } from '../support/project-files.ts';

/** Files that record an event without an audit row, and the reason. */
const UNAUDITED_FILES: Record<string, string> = {
  'src/domain/actions/begin.ts': 'its callers audit the work that is done at once',
  'src/domain/actions/end.ts': 'its callers audit the end of the work',
  'src/domain/servers/billing/charge.ts': 'its callers audit the renewal, resumption, or start',
  'src/domain/servers/billing/suspend.ts': 'its callers know the actor',
  'src/domain/firewall/applied-to.ts': 'its callers audit the change of the group',
  'src/domain/servers/operator/apply-freeze.ts': 'the operator’s command was audited when it was given',
  'src/domain/servers/resize/resize.ts': '`requestOperation` audits the request',
  'src/domain/billing/low-balance.ts': 'it changes nothing',
  'src/domain/servers/alerts/record.ts': 'its callers audit the change of the alert or the server',
};
/** `moveServer` records the events of these transitions. */
const RECORDS_EVENT = /\b(recordEvent|recordServerEvent)\(|\bmoveServer\(.*'(guest_went_off|resume_running)'/;
const WRITES_AUDIT = /\b(recordAudit|auditServer)\(/;
/** Actions whose names are built as `server.${action}`. */
const ACTIONS_BY_OPERATION = ['server.stop', 'server.start', 'server.reboot', 'server.rescue'];

test('a file that records an event also writes the audit log', () => {
  const unaudited = [...readTree(['src/domain', 'src/workers'], /\.ts$/)]
    .filter(([, text]) => RECORDS_EVENT.test(text) && !WRITES_AUDIT.test(text))
    .map(([path]) => path);
  assert.deepEqual(unaudited.sort(), Object.keys(UNAUDITED_FILES).sort());
});

test('every action of the table is used', () => {
  const texts = [...readTree(['src/domain', 'src/store'], /\.ts$/)].map(([, text]) => text).join('\n');
  const unused = ACTIONS.filter((action) => !texts.includes(`'${action}'`));
  assert.deepEqual(
    unused.filter((action) => !ACTIONS_BY_OPERATION.includes(action)),
    [],
  );
});

/**
 * Behind a pooler, each transaction may run in another session. So no statement may leave anything in its
 * session, apart from the listener, which has a connection of its own.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTree } from '../support/project-files.ts';

const SESSION_STATE = [
  /pg_(?:try_)?advisory_lock(?:_shared)?\s*\(/i,
  /\bcreate\s+(?:local\s+)?(?:temp|temporary)\b/i,
  /[`'"]\s*(?:set|reset)\s+(?!local\b|transaction\b)(?:session\s+)?[a-z_.]+\s*(?:=|to)\s/,
  /\bwith\s+hold\b/i,
  /\bset_config\([^)]*false\s*\)/i,
  /[`'"]\s*(?:listen|unlisten|prepare|deallocate|discard)\s+["$\w]/i,
];
/** Those that use the session of the listener. */
const LISTENER = ['src/store/connections/listen.ts', 'src/store/service/processes.ts'];

test('no statement leaves state in its session', () => {
  for (const [file, text] of readTree(['src'], /\.ts$/)) {
    if (LISTENER.includes(file)) continue;
    for (const pattern of SESSION_STATE) assert.doesNotMatch(text, pattern, file);
  }
});

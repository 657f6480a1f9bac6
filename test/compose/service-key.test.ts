import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readServiceKey } from '../../src/compose/service-key.ts';
import { OperatorError } from '../../src/kernel/operator-error.ts';

const KEY = `k1:${Buffer.alloc(32, 7).toString('base64')}`;
const read = (key: string | null, command: string | null) =>
  readServiceKey({ SKERRY_SECRET_KEY: key, SKERRY_SECRET_KEY_COMMAND: command });

test('the service key comes from its setting, from a command, or from the key file', () => {
  assert.deepEqual(read(KEY, null), { list: KEY, source: 'SKERRY_SECRET_KEY' });
  const printed = read(null, `echo ' ${KEY}' | sed 's/^ //'`);
  assert.deepEqual(printed, { list: KEY, source: 'SKERRY_SECRET_KEY_COMMAND' });
  assert.equal(read(null, null), null);
});

for (const [name, command, says] of [
  ['fails', `echo ${KEY}; exit 3`, 'exit code 3'],
  ['ends by a signal', `echo ${KEY}; kill -TERM $$`, 'SIGTERM'],
  ['prints too much', 'yes k1 | head -c 100000', 'ENOBUFS'],
  ['prints nothing', 'true', 'printed nothing'],
] as const) {
  test(`a key command that ${name} stops the start, and its output is in no message`, () => {
    assert.throws(
      () => read(null, command),
      (error) =>
        error instanceof OperatorError && error.message.includes(says) && !error.message.includes(KEY),
    );
  });
}

test('a key and a command that prints another one are refused', () => {
  assert.throws(() => read(KEY, `echo ${KEY}`), /not both/);
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AccountBackoff } from '../../../src/http/admission/account-backoff.ts';

function delays(enabled = true) {
  const waits: number[] = [];
  const clock = { ms: 0 };
  const subject = new AccountBackoff({ enabled, now: () => clock.ms, pause: async (ms) => waits.push(ms) });
  return { subject, waits, clock };
}

describe('delays after wrong passwords', () => {
  it('wrong passwords cost nothing at first, then increasing delays of up to eight seconds', async () => {
    const { subject, waits } = delays();
    for (let n = 0; n < 12; n++) {
      await subject.wait('ann@example.org');
      subject.recordFailure('ann@example.org');
    }
    assert.deepEqual(waits, [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
  });

  it('wrong passwords delay only their own account, however its address is spelled', async () => {
    const { subject, waits } = delays();
    for (let n = 0; n < 5; n++) subject.recordFailure('ann@example.org');
    await subject.wait('bob@example.org');
    assert.deepEqual(waits, []);
    await subject.wait(' Ann@Example.org ');
    assert.deepEqual(waits, [500]);
  });

  it('wrong passwords are forgotten after the correct one and after an hour', async () => {
    const { subject, waits, clock } = delays();
    for (let n = 0; n < 5; n++) subject.recordFailure('ann@example.org');
    subject.recordSuccess('ann@example.org');
    for (let n = 0; n < 5; n++) subject.recordFailure('bob@example.org');
    clock.ms += 3_600_001;
    await subject.wait('ann@example.org');
    await subject.wait('bob@example.org');
    assert.deepEqual(waits, []);
  });

  it('wrong passwords cause no delay when the limit on failed sign-ins is off', async () => {
    const { subject, waits } = delays(false);
    for (let n = 0; n < 50; n++) subject.recordFailure('ann@example.org');
    await subject.wait('ann@example.org');
    assert.deepEqual(waits, []);
  });
});

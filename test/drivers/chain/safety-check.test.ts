import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SafetyCheck } from '../../../src/drivers/chain/safety-check.ts';

describe('safety check', () => {
  it('a passed check is cached', async () => {
    let checks = 0;
    const check = new SafetyCheck(async () => {
      checks += 1;
    });
    await check.ensure();
    await check.ensure();
    assert.equal(checks, 1);
  });

  it('concurrent callers share one check', async () => {
    let checks = 0;
    let pass: () => void = () => undefined;
    const check = new SafetyCheck(() => {
      checks += 1;
      return new Promise((resolve) => {
        pass = resolve;
      });
    });
    const waiting = Promise.all([check.ensure(), check.ensure(), check.rerun()]);
    pass();
    await waiting;
    assert.equal(checks, 1);
  });

  it('an expired check runs again', async () => {
    let checks = 0;
    const check = new SafetyCheck(
      async () => {
        checks += 1;
      },
      { validMs: 0 },
    );
    await check.ensure();
    await check.ensure();
    assert.equal(checks, 2);
  });

  it('a failed check is reported to all its callers and not cached', async () => {
    let checks = 0;
    const check = new SafetyCheck(async () => {
      checks += 1;
      if (checks !== 2) throw new Error(`check ${checks}`);
    });
    await assert.rejects(Promise.all([check.ensure(), check.ensure()]), /check 1/);
    await check.ensure();
    await check.ensure();
    assert.equal(checks, 2);
    await assert.rejects(check.rerun(), /check 3/);
    await assert.rejects(check.ensure(), /check 4/);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SafetyCheck } from '../../src/drivers/chain/safety-check.ts';

describe('proof that a node may be used', () => {
  it('is asked for once, and holds', async () => {
    let proofs = 0;
    const proof = new SafetyCheck(async () => {
      proofs += 1;
    });
    await proof.ensure();
    await proof.ensure();
    assert.equal(proofs, 1);
  });

  it('is shared by all who wait for it', async () => {
    let proofs = 0;
    let tell: () => void = () => undefined;
    const proof = new SafetyCheck(() => {
      proofs += 1;
      return new Promise((resolve) => {
        tell = resolve;
      });
    });
    const waiting = Promise.all([proof.ensure(), proof.ensure(), proof.rerun()]);
    tell();
    await waiting;
    assert.equal(proofs, 1);
  });

  it('is asked for again once it is old', async () => {
    let proofs = 0;
    const proof = new SafetyCheck(
      async () => {
        proofs += 1;
      },
      { validMs: 0 },
    );
    await proof.ensure();
    await proof.ensure();
    assert.equal(proofs, 2);
  });

  it('that fails is told to everybody who asks, and holds for nobody', async () => {
    let answers = 0;
    const proof = new SafetyCheck(async () => {
      answers += 1;
      if (answers !== 2) throw new Error(`answer ${answers}`);
    });
    await assert.rejects(Promise.all([proof.ensure(), proof.ensure()]), /answer 1/);
    await proof.ensure();
    await proof.ensure();
    assert.equal(answers, 2);
    await assert.rejects(proof.rerun(), /answer 3/);
    await assert.rejects(proof.ensure(), /answer 4/);
  });
});

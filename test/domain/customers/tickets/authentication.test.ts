import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { authenticityOf } from '../../../../src/domain/customers/tickets/mail/authentication.ts';

const SERVER = 'mail.skerry.example';
const found = (...results: string[]) =>
  authenticityOf(
    results.map((result) => `${SERVER}; ${result}`),
    SERVER,
    'victim.example',
  );

describe('the authenticity of a mail', () => {
  it('is that of DMARC, or of an aligned signature or server if the domain has no policy', () => {
    for (const result of [
      'dmarc=pass (p=none) header.from=victim.example',
      'dmarc=none; dkim=pass header.d=victim.example header.s=a header.b="abc/d"',
      'spf=pass smtp.mailfrom=bounces@victim.example',
      'dkim=fail header.d=list.example; dkim=pass header.i=@victim.example',
    ])
      assert.equal(found(result), 'authentic', result);
  });

  it('is not decided by a value that the sender chose', () => {
    for (const result of [
      'spf=pass smtp.mailfrom="x@victim.example"@attacker.example',
      'spf=pass smtp.mailfrom="a\\" smtp.mailfrom=x@victim.example"@attacker.example',
      'spf=pass smtp.mailfrom=a\\ smtp.mailfrom=x@victim.example@attacker.example',
      'spf=pass smtp.mailfrom="a smtp.mailfrom=x@victim.example',
      'dkim=pass header.d=attacker.example header.i="a\\" header.d=victim.example"@attacker.example',
      'dkim=pass header.d=attacker.example header.d=victim.example',
      'spf=none reason="; dmarc=pass header.from=victim.example"',
      'none (; dmarc=pass header.from=victim.example)',
      'dmarc=pass',
      'dmarc=fail header.from=victim.example; dkim=pass header.d=victim.example',
    ])
      assert.equal(found(result), 'unknown', result);
  });

  it('is unknown if two verdicts contradict each other', () => {
    const pass = 'spf=pass smtp.mailfrom=x@victim.example';
    assert.equal(found(pass), 'authentic');
    assert.equal(found(pass, 'spf=fail smtp.mailfrom=x@victim.example'), 'unknown');
    assert.equal(found('dmarc=pass header.from=victim.example', 'dmarc=none'), 'unknown');
  });

  it('is undecided while the mail server cannot look up the policy', () => {
    assert.equal(found('dmarc=temperror; dkim=pass header.d=victim.example'), 'undecided');
  });
});

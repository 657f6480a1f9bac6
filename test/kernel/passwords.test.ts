import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, describe, it, type Mock, mock } from 'node:test';
import { Failure } from '../../src/kernel/fail.ts';
import { PasswordHasher } from '../../src/kernel/passwords.ts';

type Derived = (error: Error | null, tag: Buffer) => void;
type Argon2 = (kind: string, parameters: { memory: number; passes: number }, done: Derived) => void;

/** Puts `derive` in the place of Node's Argon2id, so that derivations can be counted and held. */
function replaceArgon2(derive: Argon2): Mock<Argon2> {
  const replaced = mock.method(crypto as unknown as { argon2: Argon2 }, 'argon2', derive).mock;
  syncBuiltinESMExports();
  return { mock: replaced } as unknown as Mock<Argon2>;
}

/** Derivations that end when told. */
function blockedArgon2() {
  const held: Derived[] = [];
  const spy = replaceArgon2((_kind, _parameters, done) => held.push(done));
  return {
    begun: () => spy.mock.callCount(),
    /** Ends the derivation that began first, and lets what waited for it go on. */
    async end(error: Error | null = null): Promise<void> {
      const done = held.shift();
      assert.ok(done, 'no derivation is under way');
      done(error, Buffer.alloc(32));
      await flushMicrotasks();
    },
  };
}

/** Lets every promise that can go on do so. */
async function flushMicrotasks(): Promise<void> {
  for (let n = 0; n < 20; n++) await Promise.resolve();
}

const captureFailure = async (attempt: Promise<unknown>) => {
  const error: unknown = await attempt.catch((reason: unknown) => reason);
  assert.ok(error instanceof Failure);
  return error;
};

afterEach(() => {
  mock.restoreAll();
  syncBuiltinESMExports();
});

describe('passwords', () => {
  const hasher = new PasswordHasher({ queueMax: 8 });

  it('a password fits its own hash and no other does', async () => {
    const stored = await hasher.hash('correct horse battery');
    assert.match(stored, /^\$argon2id\$v=19\$m=32768,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    assert.ok(await hasher.verify('correct horse battery', stored));
    assert.ok(!(await hasher.verify('Correct horse battery', stored)));
    assert.ok(!(await hasher.verify('', stored)));
  });

  it('the same password has another hash each time', async () => {
    const [one, other] = await Promise.all([hasher.hash('same password'), hasher.hash('same password')]);
    assert.notEqual(one, other);
  });

  it('a password typed with composed or with combining letters is the same', async () => {
    const stored = await hasher.hash('motörhead forever'.normalize('NFC'));
    assert.ok(await hasher.verify('motörhead forever'.normalize('NFD'), stored));
  });

  it('a hash made at another cost still fits', async () => {
    const salt = Buffer.alloc(16, 7);
    const parameters = {
      message: 'older password',
      nonce: salt,
      parallelism: 1,
      tagLength: 32,
      memory: 64,
      passes: 3,
    };
    const tag = crypto.argon2Sync('argon2id', parameters);
    const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
    const stored = `$argon2id$v=19$m=64,t=3,p=1$${text(salt)}$${text(tag)}`;
    assert.ok(await hasher.verify('older password', stored));
    assert.ok(!(await hasher.verify('other password', stored)));
  });

  it('a stored hash that is none is a fault, not a wrong password', async () => {
    await assert.rejects(hasher.verify('x', 'plaintext'), /malformed/);
  });
});

describe('the cost of a sign-in', () => {
  it('is one derivation of the same parameters, whether the user is known or not, and an unknown one never fits', async () => {
    const hasher = new PasswordHasher({ queueMax: 8 });
    const stored = await hasher.hash('correct horse battery');
    const spy = replaceArgon2((_kind, _parameters, done) => done(null, Buffer.alloc(32)));
    assert.ok(!(await hasher.verify('correct horse battery', stored)));
    // The derivation gave exactly what the dummy hash holds, and still nobody is let in.
    assert.ok(!(await hasher.verify('correct horse battery', null)));
    const costs = spy.mock.calls.map(({ arguments: [kind, { memory, passes }] }) => ({
      kind,
      memory,
      passes,
    }));
    const today = { kind: 'argon2id', memory: 32_768, passes: 2 };
    assert.deepEqual(costs, [today, today]);
  });
});

describe('many passwords at once', () => {
  it('are derived two at a time', async () => {
    const hasher = new PasswordHasher({ queueMax: 8 });
    const argon2 = blockedArgon2();
    const all = Array.from({ length: 5 }, (_, n) => hasher.verify(`password ${n}`, null));
    await flushMicrotasks();
    for (const begun of [2, 3, 4, 5, 5]) {
      assert.equal(argon2.begun(), begun);
      await argon2.end();
    }
    assert.deepEqual(await Promise.all(all), [false, false, false, false, false]);
  });

  it('wait in a queue that is bounded: one too many is told to come back', async () => {
    const hasher = new PasswordHasher({ queueMax: 3 });
    const argon2 = blockedArgon2();
    const all = Array.from({ length: 5 }, () => hasher.hash('a long password'));
    await flushMicrotasks();
    const refused = await captureFailure(hasher.hash('a long password'));
    assert.equal(refused.code, 'maintenance');
    assert.deepEqual(refused.extras, { retry_after_s: 5 });
    assert.equal(argon2.begun(), 2);
    await argon2.end();
    // A place in the queue is free again.
    const last = hasher.hash('a long password');
    for (let n = 0; n < 5; n++) await argon2.end();
    assert.equal((await Promise.all([...all, last])).length, 6);
    assert.equal(argon2.begun(), 6);
  });

  it('are let in after one whose derivation failed', async () => {
    const hasher = new PasswordHasher({ queueMax: 8 });
    const argon2 = blockedArgon2();
    const all = Array.from({ length: 3 }, () => hasher.hash('a long password'));
    const outcome = Promise.allSettled(all);
    await flushMicrotasks();
    await argon2.end(new Error('out of memory'));
    assert.equal(argon2.begun(), 3);
    await argon2.end();
    await argon2.end();
    assert.deepEqual(
      (await outcome).map(({ status }) => status),
      ['rejected', 'fulfilled', 'fulfilled'],
    );
  });
});

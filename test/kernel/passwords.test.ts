import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, describe, it, type Mock, mock } from 'node:test';
import { Failure } from '../../src/kernel/fail.ts';
import { PasswordHasher } from '../../src/kernel/passwords.ts';

type Derived = (error: Error | null, tag: Buffer) => void;
type Argon2 = (kind: string, parameters: { memory: number; passes: number }, done: Derived) => void;

/** Replaces Node's Argon2id with `derive`, so that derivations can be counted and blocked. */
function replaceArgon2(derive: Argon2): Mock<Argon2> {
  const replaced = mock.method(crypto as unknown as { argon2: Argon2 }, 'argon2', derive).mock;
  syncBuiltinESMExports();
  return { mock: replaced } as unknown as Mock<Argon2>;
}

/** Replaces Argon2id with derivations that end on request. */
function blockedArgon2() {
  const pending: Derived[] = [];
  const spy = replaceArgon2((_kind, _parameters, done) => pending.push(done));
  return {
    startedCount: () => spy.mock.callCount(),
    /** Ends the oldest derivation, and lets the code that waited for it continue. */
    async end(error: Error | null = null): Promise<void> {
      const done = pending.shift();
      assert.ok(done, 'no derivation is running');
      done(error, Buffer.alloc(32));
      await flushMicrotasks();
    },
  };
}

/** Runs all pending promise callbacks. */
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

  it('a password matches its own hash, and no other password does', async () => {
    const stored = await hasher.hash('correct horse battery');
    assert.match(stored, /^\$argon2id\$v=19\$m=32768,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    assert.ok(await hasher.verify('correct horse battery', stored));
    assert.ok(!(await hasher.verify('Correct horse battery', stored)));
    assert.ok(!(await hasher.verify('', stored)));
  });

  it('the same password has a different hash each time', async () => {
    const [one, other] = await Promise.all([hasher.hash('same password'), hasher.hash('same password')]);
    assert.notEqual(one, other);
  });

  it('a password matches in composed and in decomposed Unicode form', async () => {
    const stored = await hasher.hash('motörhead forever'.normalize('NFC'));
    assert.ok(await hasher.verify('motörhead forever'.normalize('NFD'), stored));
  });

  it('a hash with different cost parameters still matches', async () => {
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

  it('a malformed stored hash is an error, not an incorrect password', async () => {
    await assert.rejects(hasher.verify('x', 'plaintext'), /malformed/);
  });
});

describe('the cost of a sign-in', () => {
  it('a sign-in costs the same for an unknown user, who never matches', async () => {
    const hasher = new PasswordHasher({ queueMax: 8 });
    const stored = await hasher.hash('correct horse battery');
    const spy = replaceArgon2((_kind, _parameters, done) => done(null, Buffer.alloc(32)));
    assert.ok(!(await hasher.verify('correct horse battery', stored)));
    // The derivation returned exactly the tag of the dummy hash, and is still rejected.
    assert.ok(!(await hasher.verify('correct horse battery', null)));
    const costs = spy.mock.calls.map(({ arguments: [kind, { memory, passes }] }) => ({
      kind,
      memory,
      passes,
    }));
    const expected = { kind: 'argon2id', memory: 32_768, passes: 2 };
    assert.deepEqual(costs, [expected, expected]);
  });
});

describe('many passwords at once', () => {
  it('passwords are derived two at a time', async () => {
    const hasher = new PasswordHasher({ queueMax: 8 });
    const argon2 = blockedArgon2();
    const all = Array.from({ length: 5 }, (_, n) => hasher.verify(`password ${n}`, null));
    await flushMicrotasks();
    for (const startedCount of [2, 3, 4, 5, 5]) {
      assert.equal(argon2.startedCount(), startedCount);
      await argon2.end();
    }
    assert.deepEqual(await Promise.all(all), [false, false, false, false, false]);
  });

  it('a full queue of passwords is refused with a retry delay', async () => {
    const hasher = new PasswordHasher({ queueMax: 3 });
    const argon2 = blockedArgon2();
    const all = Array.from({ length: 5 }, () => hasher.hash('a long password'));
    await flushMicrotasks();
    const refused = await captureFailure(hasher.hash('a long password'));
    assert.equal(refused.code, 'maintenance');
    assert.deepEqual(refused.extras, { retry_after_s: 5 });
    assert.equal(argon2.startedCount(), 2);
    await argon2.end();
    // The queue has room again.
    const last = hasher.hash('a long password');
    for (let n = 0; n < 5; n++) await argon2.end();
    assert.equal((await Promise.all([...all, last])).length, 6);
    assert.equal(argon2.startedCount(), 6);
  });

  it('queued passwords are derived after a failed derivation', async () => {
    const hasher = new PasswordHasher({ queueMax: 8 });
    const argon2 = blockedArgon2();
    const all = Array.from({ length: 3 }, () => hasher.hash('a long password'));
    const outcome = Promise.allSettled(all);
    await flushMicrotasks();
    await argon2.end(new Error('out of memory'));
    assert.equal(argon2.startedCount(), 3);
    await argon2.end();
    await argon2.end();
    assert.deepEqual(
      (await outcome).map(({ status }) => status),
      ['rejected', 'fulfilled', 'fulfilled'],
    );
  });

  it('known customers neither wait behind a full queue of others nor shut it out', async () => {
    const hasher = new PasswordHasher({ queueMax: 3 });
    const argon2 = blockedArgon2();
    const order: string[] = [];
    const derive = (lane: 'known' | 'others') =>
      hasher.hash('a long password', lane).then(() => void order.push(lane));
    const others = Array.from({ length: 5 }, () => derive('others'));
    const known = [derive('known'), derive('known')];
    assert.equal((await captureFailure(hasher.hash('a long password'))).code, 'maintenance');
    for (let n = 0; n < 7; n++) {
      await flushMicrotasks();
      await argon2.end();
    }
    await Promise.all([...others, ...known]);
    assert.deepEqual(order, ['others', 'others', 'known', 'others', 'known', 'others', 'others']);
  });
});

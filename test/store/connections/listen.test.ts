import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it, mock } from 'node:test';
import pg from 'pg';
import { openScratchDatabase, type ScratchDatabase } from '../../support/database.ts';

let scratch: ScratchDatabase;
before(async () => {
  scratch = await openScratchDatabase({ poolSize: 3 });
});
after(() => scratch.close());

/** Waits for the end of the client's connection, even after errors. */
async function connectionEnded(client: pg.ClientBase): Promise<void> {
  await new Promise<void>((resolve) => client.once('end', resolve));
}

describe('a listener', { timeout: 30_000 }, () => {
  let other: ScratchDatabase;
  before(async () => {
    other = await openScratchDatabase();
  });
  after(() => other.close());
  afterEach(() => mock.restoreAll());

  /** Holds back timers of one second until `fire` is called; all others run normally. */
  function holdOneSecondTimers() {
    const held = new Map<NodeJS.Timeout, () => void>();
    const { setTimeout: real, clearTimeout: clear } = globalThis;
    mock.method(globalThis, 'setTimeout', (callback: () => void, ms?: number) => {
      const timer = real(ms === 1_000 ? () => undefined : callback, ms);
      if (ms === 1_000) held.set(timer, callback);
      return timer;
    });
    mock.method(globalThis, 'clearTimeout', (timer?: NodeJS.Timeout) => {
      if (timer) held.delete(timer);
      clear(timer);
    });
    return {
      fire: () => {
        const due = [...held.values()];
        held.clear();
        for (const callback of due) callback();
      },
    };
  }

  /** Listens on a channel of `other`. Returns functions that wait for exactly one notification. */
  async function startListening() {
    let received = 0;
    let next = Promise.withResolvers<void>();
    await other.db.listen('test_channel', () => {
      received += 1;
      next.resolve();
    });
    const receivesAfter = async (cause: () => Promise<unknown>) => {
      const before = received;
      next = Promise.withResolvers();
      await cause();
      await next.promise;
      assert.equal(received, before + 1);
    };
    const notify = () => other.db.run(`select pg_notify('test_channel', '')`);
    return { receivesAfter, receivesNotification: () => receivesAfter(notify) };
  }

  it('a listener receives every notification, and after an outage retries once a second', async () => {
    const connects: pg.Client[] = [];
    const { connect } = pg.Client.prototype as { connect(done?: unknown): unknown };
    mock.method(pg.Client.prototype, 'connect', function (this: pg.Client, done?: unknown) {
      connects.push(this);
      return connect.call(this, done);
    });
    const timers = holdOneSecondTimers();
    const { receivesAfter, receivesNotification } = await startListening();
    await receivesNotification();
    await receivesNotification();

    const [listener] = connects;
    assert.ok(listener);
    const { name } = (await other.db.row<{ name: string }>('select current_database() as name')) ?? {};
    await scratch.db.run(`alter database ${name} allow_connections false`);
    const ended = connectionEnded(listener);
    await scratch.db.run(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = $1 and query like 'listen %'`,
      [name],
    );
    await ended;
    connects.length = 0;
    for (let tries = 1; tries <= 4; tries++) {
      timers.fire();
      const last = connects.at(-1);
      assert.ok(last);
      await connectionEnded(last);
      assert.equal(connects.length, tries);
    }

    await scratch.db.run(`alter database ${name} allow_connections true`);
    // Notifications sent meanwhile are lost, so the callback runs once after reconnecting.
    await receivesAfter(async () => {
      timers.fire();
      await waitForListener(name ?? '');
    });
    await receivesNotification();
  });

  /** Waits until one connection to the database is listening. */
  async function waitForListener(name: string): Promise<void> {
    const count = `select count(*)::int as n from pg_stat_activity
      where datname = $1 and query like 'listen %' and state = 'idle'`;
    while ((await scratch.db.row<{ n: number }>(count, [name]))?.n !== 1);
  }
});

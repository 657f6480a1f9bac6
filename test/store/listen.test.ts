import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it, mock } from 'node:test';
import pg from 'pg';
import { openScratchDatabase, type ScratchDatabase } from '../support/database.ts';

let scratch: ScratchDatabase;
before(async () => {
  scratch = await openScratchDatabase({ poolSize: 3 });
});
after(() => scratch.close());

/** When the client's connection is gone, whatever it said before. */
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

  /** Holds timers of one second until `pass` lets them go; all others run as ever. */
  function heldSeconds() {
    const held = new Map<NodeJS.Timeout, () => void>();
    const { setTimeout: real, clearTimeout: clear } = globalThis;
    mock.method(globalThis, 'setTimeout', (rise: () => void, ms?: number) => {
      const timer = real(ms === 1_000 ? () => undefined : rise, ms);
      if (ms === 1_000) held.set(timer, rise);
      return timer;
    });
    mock.method(globalThis, 'clearTimeout', (timer?: NodeJS.Timeout) => {
      if (timer) held.delete(timer);
      clear(timer);
    });
    return {
      pass: () => {
        const due = [...held.values()];
        held.clear();
        for (const rise of due) rise();
      },
    };
  }

  /** Counts what `other` hears, and says when it hears the next. */
  async function ear() {
    let heard = 0;
    let next = Promise.withResolvers<void>();
    await other.db.listen('ear', () => {
      heard += 1;
      next.resolve();
    });
    const hears = async (cause: () => Promise<unknown>) => {
      const before = heard;
      next = Promise.withResolvers();
      await cause();
      await next.promise;
      assert.equal(heard, before + 1);
    };
    return { hears, hearsNotification: () => hears(() => other.db.run(`select pg_notify('ear', '')`)) };
  }

  it('hears every notification, and after an outage listens again, trying once a second', async () => {
    const connects: pg.Client[] = [];
    const { connect } = pg.Client.prototype as { connect(done?: unknown): unknown };
    mock.method(pg.Client.prototype, 'connect', function (this: pg.Client, done?: unknown) {
      connects.push(this);
      return connect.call(this, done);
    });
    const second = heldSeconds();
    const { hears, hearsNotification } = await ear();
    await hearsNotification();
    await hearsNotification();

    const [listener] = connects;
    assert.ok(listener);
    const { name } = (await other.db.row<{ name: string }>('select current_database() as name')) ?? {};
    await scratch.db.run(`alter database ${name} allow_connections false`);
    const gone = connectionEnded(listener);
    await scratch.db.run(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and query like 'listen %'`,
      [name],
    );
    await gone;
    connects.length = 0;
    for (let tries = 1; tries <= 4; tries++) {
      second.pass();
      const last = connects.at(-1);
      assert.ok(last);
      await connectionEnded(last);
      assert.equal(connects.length, tries);
    }

    await scratch.db.run(`alter database ${name} allow_connections true`);
    // What was said meanwhile is lost: it looks by itself once it listens again.
    await hears(async () => {
      second.pass();
      await listening(name ?? '');
    });
    await hearsNotification();
  });

  /** Waits until one connection to the database listens. */
  async function listening(name: string): Promise<void> {
    const count = `select count(*)::int as n from pg_stat_activity where datname = $1 and query like 'listen %' and state = 'idle'`;
    while ((await scratch.db.row<{ n: number }>(count, [name]))?.n !== 1);
  }
});

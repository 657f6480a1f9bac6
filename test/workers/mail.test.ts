/** The mail queue: each mail is sent once, retried if it was surely not sent, and never resent in doubt. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Service } from '../../src/domain/context.ts';
import { enqueueMail, type NewMail } from '../../src/domain/mail/enqueue.ts';
import { setSwitch } from '../../src/domain/rules/switches.ts';
import { newId, newPublicNumber } from '../../src/kernel/ids.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/kernel/time.ts';
import type { Mailer, MailOutcome, OutgoingMail } from '../../src/ports/mail.ts';
import { insertCustomer } from '../../src/store/customers/customers.ts';
import { mailJob } from '../../src/workers/mail.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

/** Returns scripted outcomes, then accepts every mail. */
class ScriptedMailer implements Mailer {
  readonly received: OutgoingMail[] = [];
  answers: ((handOver: () => Promise<boolean>) => Promise<MailOutcome>)[] = [];
  async send(mail: OutgoingMail, handOver: () => Promise<boolean>): Promise<MailOutcome> {
    const answer = this.answers.shift();
    if (answer) return await answer(handOver);
    if (!(await handOver())) return { outcome: 'taken' };
    this.received.push(mail);
    return { outcome: 'sent' };
  }
  close(): void {}
}

const failing = (outcome: 'unreachable' | 'deferred' | 'refused') => async () => ({
  outcome,
  detail: 'as scripted',
});

describe('mails', () => {
  let world: TestService;
  let mailer: ScriptedMailer;
  let service: Service;
  let customerId: string;
  const email = () => `${customerId}@example.org`;

  before(async () => {
    world = await startTestService();
  });
  after(() => world.close());
  beforeEach(async () => {
    await world.db.run('delete from mails');
    mailer = new ScriptedMailer();
    service = { ...world.service, mailer };
    customerId = await newCustomer();
  });

  async function newCustomer(): Promise<string> {
    const id = newId(world.clock.now());
    await insertCustomer(world.db, {
      id,
      publicNo: newPublicNumber(),
      email: `${id}@example.org`,
      emailKey: `${id}@example.org`,
      passwordHash: '',
      recoveryDigest: Buffer.alloc(32),
      createdAt: world.clock.now(),
    });
    return id;
  }

  function signIn(cause: string = randomUUID()): NewMail {
    const data = { signedInAt: world.clock.now(), country: 'IS' };
    return { customerId, kind: 'new_sign_in', cause, data };
  }

  async function queue(mail: NewMail = signIn()): Promise<void> {
    await world.db.transaction((tx) => enqueueMail(tx, mail, world.clock.now(), world.service.keys));
  }

  const run = () => mailJob(service).run();
  const rows = () =>
    world.db.rows<Record<string, unknown>>(
      `select status, fault, attempts, due_at, data_sealed, to_address, sent_at
         from mails order by created_at, id`,
    );
  const statuses = async () => (await rows()).map((row) => row.status);

  it('a mail is sent once per cause, and its text and address are deleted afterwards', async () => {
    await queue(signIn('one'));
    await queue(signIn('one'));
    assert.equal(await run(), 1);
    assert.equal(await run(), 0);
    await queue(signIn('one'));
    assert.equal(await run(), 0);
    assert.deepEqual(
      mailer.received.map(({ to, subject }) => [to, subject]),
      [[email(), 'New sign-in to your account']],
    );
    assert.match(String(mailer.received[0]?.text), /from\s+Iceland/);
    assert.match(String(mailer.received[0]?.text), /http:\/\/panel\.test\/account/);
    const [row] = await rows();
    assert.deepEqual(
      [row?.status, row?.data_sealed, row?.to_address, row?.due_at],
      ['sent', null, null, null],
    );
    assert.deepEqual(row?.sent_at, world.clock.now());
  });

  it('mailings wait for all other mail', async () => {
    const data = { subject: 'A notice', text: 'Hello', off: null };
    for (const cause of ['a', 'b', 'c', 'd', 'e']) await queue({ customerId, kind: 'mailing', cause, data });
    world.clock.moveTo(new Date(world.clock.now().getTime() + MINUTE_MS));
    await queue(signIn());
    const reset = { path: '/reset?token=x', requestedAt: world.clock.now(), country: 'IS' };
    const expiresAt = new Date(world.clock.now().getTime() + HOUR_MS);
    await queue({ customerId, kind: 'reset_password', cause: randomUUID(), data: { ...reset, expiresAt } });
    assert.equal(await run(), 4);
    const first = mailer.received.map(({ subject }) => subject).sort();
    assert.deepEqual(first, ['A notice', 'A notice', 'New sign-in to your account', 'Reset your password']);
    assert.equal(await run(), 3);
  });

  it('a mail that is queued in a failed transaction is never sent', async () => {
    const failed = world.db.transaction(async (tx) => {
      await enqueueMail(tx, signIn(), world.clock.now(), world.service.keys);
      throw new Error('no');
    });
    await assert.rejects(failed);
    assert.equal(await run(), 0);
  });

  it('a mail that was surely not sent is retried with delays that grow to a day', async () => {
    await queue();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 9; attempt++) {
      mailer.answers.push(failing('unreachable'));
      assert.equal(await run(), 1);
      const due = await mailJob(service).nextDue();
      assert.ok(due);
      waits.push((due.getTime() - world.clock.now().getTime()) / MINUTE_MS);
      world.clock.moveTo(due);
    }
    assert.deepEqual(waits, [1, 5, 15, 60, 240, 720, 1440, 1440, 1440]);
    assert.equal(await run(), 1);
    assert.equal(mailer.received.length, 1);
  });

  it('a recovered mail server receives the waiting mails at once', async () => {
    for (let mails = 0; mails < 3; mails++) await queue();
    mailer.answers.push(...Array.from({ length: 3 }, () => failing('unreachable')));
    assert.equal(await run(), 3);
    world.clock.moveTo(new Date(world.clock.now().getTime() + MINUTE_MS));
    // These outcomes arrive after the third mail was accepted.
    const late = async () => {
      for (let polls = 0; polls < 1_000 && !(await statuses()).includes('sent'); polls++) await pause(5);
      return await failing('unreachable')();
    };
    mailer.answers.push(late, late);
    assert.equal(await run(), 3);
    assert.equal(await run(), 2);
    assert.deepEqual(await statuses(), ['sent', 'sent', 'sent']);
  });

  it('a mail fails when it is permanently refused, or deferred for days', async () => {
    mailer.answers.push(failing('refused'));
    await queue();
    await run();
    assert.deepEqual(await statuses(), ['failed']);
    await queue();
    let attempts = 0;
    for (let due = await mailJob(service).nextDue(); due; due = await mailJob(service).nextDue()) {
      if (due > world.clock.now()) world.clock.moveTo(due);
      mailer.answers.push(failing('deferred'));
      attempts += await run();
    }
    assert.equal(attempts, 10);
    assert.deepEqual(await statuses(), ['failed', 'failed']);
    assert.deepEqual(mailer.received, []);
  });

  it('a mail that was handed over without a response is never sent again', async () => {
    await queue();
    mailer.answers.push(async (handOver) => {
      assert.equal(await handOver(), true);
      return { outcome: 'unknown', detail: 'no answer' };
    });
    await run();
    // Another worker died in the middle.
    await queue();
    await world.db.run(`update mails set status = 'sending' where status = 'queued'`);
    assert.equal(await run(), 1);
    assert.deepEqual([await statuses(), mailer.received], [['unknown', 'unknown'], []]);
  });

  it('a worker that lost its lease hands nothing over', async () => {
    await queue();
    const slow = mailJob({ ...service, mailer });
    mailer.answers.push(async (handOver) => {
      // Its lease expires while it connects, and another worker sends the mail.
      await world.db.run(`update mails set leased_until = now() - interval '1 s'`);
      assert.equal(await mailJob(service).run(), 1);
      return (await handOver()) ? { outcome: 'sent' } : { outcome: 'taken' };
    });
    await slow.run();
    assert.equal(mailer.received.length, 1);
    assert.deepEqual(await statuses(), ['sent']);
  });

  it('concurrent workers send each mail once', async () => {
    for (let mails = 0; mails < 20; mails++) await queue();
    const workers = Array.from({ length: 4 }, () => mailJob(service));
    for (let done = 1; done > 0; ) {
      const counts = await Promise.all(workers.map((worker) => worker.run()));
      done = counts.reduce((sum, count) => sum + count, 0);
    }
    assert.equal(mailer.received.length, 20);
    assert.equal(new Set(mailer.received.map(({ id }) => id)).size, 20);
  });

  it('a link that a person waits for is sent before all other mails', async () => {
    for (let mails = 0; mails < 9; mails++) await queue();
    const expiresAt = new Date(world.clock.now().getTime() + HOUR_MS);
    await queue({ customerId, kind: 'confirm_address', cause: 'c', data: { path: '/confirm', expiresAt } });
    const counts: number[] = [];
    while (counts.at(-1) !== 0) counts.push(await run());
    assert.deepEqual(counts, [4, 4, 2, 0]);
    const place = mailer.received.findIndex(({ subject }) => subject === 'Confirm your email address');
    assert.ok(place < 4, `it was sent at position ${place}`);
  });

  it('mails are queued but not planned while the switch is off', async () => {
    await setSwitch(service, 'mail', false);
    await queue();
    const job = mailJob(service);
    assert.deepEqual([await job.run(), await job.nextDue(), await job.busy()], [0, null, false]);
    await setSwitch(service, 'mail', true);
    assert.equal(await job.busy(), true);
    assert.equal(await job.run(), 1);
    assert.equal(mailer.received.length, 1);
  });

  it('an expired link is no longer mailed, but other mails are', async () => {
    const expiresAt = new Date(world.clock.now().getTime() + HOUR_MS);
    const data = { path: '/reset?token=1', requestedAt: world.clock.now(), expiresAt, country: 'XX' };
    await queue({ customerId, kind: 'reset_password', cause: randomUUID(), data });
    await queue();
    world.clock.moveTo(new Date(world.clock.now().getTime() + 3 * DAY_MS));
    await run();
    assert.deepEqual((await statuses()).sort(), ['sent', 'stale']);
    assert.equal(mailer.received[0]?.subject, 'New sign-in to your account');
  });

  it('a deleted customer receives no mail except the confirmation of the deletion', async () => {
    await world.db.run('update customers set deleting_at = now(), deleted_at = now() where id = $1', [
      customerId,
    ]);
    await queue();
    const data = { deletedAt: world.clock.now() };
    await queue({ customerId, kind: 'account_deleted', cause: randomUUID(), data, to: 'old@example.org' });
    await run();
    assert.deepEqual((await statuses()).sort(), ['dropped', 'sent']);
    assert.deepEqual(
      mailer.received.map(({ to }) => to),
      ['old@example.org'],
    );
  });

  it('a mail that cannot be opened stays queued, and other mails are sent', async () => {
    await queue();
    await world.db.run(`update mails set data_sealed = 'k1.broken'`);
    await queue();
    await run();
    assert.deepEqual((await statuses()).sort(), ['queued', 'sent']);
  });

  it('a service without a mailer drops its mails', async () => {
    await queue();
    await mailJob({ ...service, mailer: null }).run();
    assert.deepEqual(await statuses(), ['dropped']);
  });
});

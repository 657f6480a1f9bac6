/** Mails: each reaches a mail server once, also when two workers, faults, and a customer get in between. */
import assert from 'node:assert/strict';
import type { Service } from '../../../src/domain/context.ts';
import { enqueueMail, type NewMail } from '../../../src/domain/mail/enqueue.ts';
import { MINUTE_MS, SECOND_MS } from '../../../src/kernel/time.ts';
import type { Mailer, MailOutcome, OutgoingMail } from '../../../src/ports/mail.ts';
import { LEASE_S } from '../../../src/store/leases.ts';
import { mailJob } from '../../../src/workers/mail.ts';
import type { Chances } from '../core/events.ts';
import type { Scenario } from '../core/explore.ts';
import type { InterleaveWorld } from '../core/world.ts';

const CHANCES: Chances = {
  deaths: 1,
  faults: 2,
  jumpsMs: [SECOND_MS, (LEASE_S + 1) * SECOND_MS, 2 * MINUTE_MS],
  jumps: 3,
};
const RUNS = 3;

/** A mail server that all processes use. It refuses the first attempt of each mail for now. */
class MailServer implements Mailer {
  readonly received: string[] = [];
  readonly #seen = new Set<string>();
  readonly #world: InterleaveWorld;

  constructor(world: InterleaveWorld) {
    this.#world = world;
  }

  async send({ id }: OutgoingMail, confirmHandover: () => Promise<boolean>): Promise<MailOutcome> {
    await this.#world.step(`the mail server is asked for ${id}`);
    if (!this.#seen.has(id)) {
      this.#seen.add(id);
      return { outcome: 'deferred', detail: 'as scripted' };
    }
    if (!(await confirmHandover())) return { outcome: 'taken' };
    await this.#world.step('the mail arrives');
    this.received.push(id);
    await this.#world.step('the mail server answers');
    return { outcome: 'sent' };
  }

  close(): void {}
}

/** Two workers send three mails, while a fourth is queued twice for one cause. */
const mailsOnce: Scenario = {
  name: 'mails-once',
  chances: CHANCES,
  prepare: async (world) => {
    const { customerId } = world.owner.actor;
    const server = new MailServer(world);
    const service = (): Service => world.service({ mailer: server });
    const queue = async (cause: string) => {
      const data = { signedInAt: world.clock.now(), country: 'IS' };
      const mail: NewMail = { customerId, kind: 'new_sign_in', cause, data };
      const { db, keys } = service();
      await db.transaction((tx) => enqueueMail(tx, mail, world.clock.now(), keys));
    };
    for (const cause of ['one', 'two', 'three']) await queue(cause);
    const works = () => async () => {
      const job = mailJob(service());
      for (let runs = 0; runs < RUNS; runs++) await job.run();
    };
    return {
      tasks: {
        'sends-1': works(),
        'sends-2': works(),
        'queues-1': () => queue('four'),
        'queues-2': () => queue('four'),
      },
      finish: async () => {
        const until = new Date(world.clock.now().getTime() + 30 * MINUTE_MS);
        await world.runJobs([mailJob(service())], until);
      },
      check: async (_, db) => {
        assert.equal(new Set(server.received).size, server.received.length, 'a mail arrived twice');
        const rows = await db.rows<{ status: string; n: bigint }>(
          'select status, count(*) as n from mails group by status',
        );
        const sent = rows.find(({ status }) => status === 'sent')?.n ?? 0n;
        assert.ok(Number(sent) <= server.received.length, 'a mail was recorded as sent, but did not arrive');
        const open = rows.filter(({ status }) => !['sent', 'unknown'].includes(status));
        assert.deepEqual(open, []);
      },
    };
  },
};

export const MAILS: readonly Scenario[] = [mailsOnce];

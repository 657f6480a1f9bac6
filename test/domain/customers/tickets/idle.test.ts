import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTicket, replyToTicket } from '../../../../src/domain/customers/tickets/change.ts';
import {
  answerTicket,
  noteTicket,
  readStaffTicket,
  setTicketClosed,
} from '../../../../src/domain/customers/tickets/desk.ts';
import { closeIdleTickets, IDLE_TICKETS_PER_ROUND } from '../../../../src/domain/customers/tickets/idle.ts';
import { parseId } from '../../../../src/kernel/ids.ts';
import { DAY_MS, MINUTE_MS } from '../../../../src/kernel/time.ts';
import { LIMITS } from '../../../../src/spec/limits.ts';
import { retainJob } from '../../../../src/workers/retain.ts';
import type { TestService } from '../../../support/test-service.ts';
import { RegionWorld } from '../../servers/region-world.ts';

describe('tickets in which no one writes', () => {
  let region: RegionWorld;
  let world: TestService;
  before(async () => {
    region = await RegionWorld.open();
    world = region.world;
  });
  after(() => world.close());

  const pass = (days: number) => world.clock.moveTo(new Date(world.clock.now().getTime() + days * DAY_MS));
  const open = async () =>
    (await createTicket(world.service, region.actor, { subject: 'No route', text: 'Since noon.' })).id;
  const read = (id: string) => readStaffTicket(world.service, id);
  async function round(): Promise<number> {
    let closed = 0;
    for await (const done of closeIdleTickets(world.service)) closed += done;
    return closed;
  }
  async function mailsOfAnswers(): Promise<number> {
    const rows = await world.db.rows(`select from mails where kind = 'ticket_answered'`);
    return rows.length;
  }

  it('are closed after 180 days with a message and a mail, and open again with a reply', async () => {
    const [idle, answered] = [await open(), await open()];
    await answerTicket(world.service, null, answered, { text: 'Which server?' });
    const before = await mailsOfAnswers();
    pass(LIMITS.ticketIdleDays - 1);
    const [noted, fresh] = [await open(), await open()];
    pass(1);
    // Moving the clock a little makes them older than the limit, not as old.
    world.clock.moveTo(new Date(world.clock.now().getTime() + MINUTE_MS));
    await retainJob(world.service).run();
    for (const id of [idle, answered]) {
      const { status, messages, closed_at: closedAt } = await read(id);
      assert.equal(status, 'closed');
      assert.notEqual(closedAt, null);
      const { author, staff, text } = messages.at(-1) ?? assert.fail();
      assert.deepEqual([author, staff], ['staff', null]);
      assert.match(text, /^We closed this ticket because it had no new messages for 180 days\. Reply/);
    }
    assert.equal(await mailsOfAnswers(), before + 2);
    const audits = await world.db.rows(`select from audit_events where action = 'ticket.close'`);
    assert.equal(audits.length, 2);
    assert.deepEqual([(await read(noted)).status, (await read(fresh)).status], ['open', 'open']);
    await replyToTicket(world.service, region.actor, idle, { text: 'It is back.' });
    assert.equal((await read(idle)).status, 'open');

    pass(100);
    await noteTicket(world.service, null, noted, { text: 'The switch is ordered.' });
    pass(100);
    assert.equal(await round(), 2);
    assert.equal((await read(noted)).status, 'open');
    assert.deepEqual([(await read(idle)).status, (await read(fresh)).status], ['closed', 'closed']);
    pass(100);
    assert.equal(await round(), 1);
    assert.equal((await read(noted)).status, 'closed');
  });

  it('are closed a few in a round, the longest idle first, and full ones without a message', async () => {
    const ids: string[] = [];
    for (let n = 0; n < IDLE_TICKETS_PER_ROUND - 1; n += 1) ids.push(await open());
    pass(1);
    const [late, full] = [await open(), await open()];
    const by = await read(full);
    for (let n = by.messages.length; n < LIMITS.ticketMessagesMax; n += 1) {
      await answerTicket(world.service, null, full, { text: `answer ${n}` });
    }
    pass(1);
    const last = await open();
    pass(LIMITS.ticketIdleDays + 1);
    const before = await mailsOfAnswers();
    assert.equal(await round(), IDLE_TICKETS_PER_ROUND);
    assert.equal(await mailsOfAnswers(), before + IDLE_TICKETS_PER_ROUND);
    for (const id of ids) assert.equal((await read(id)).status, 'closed');
    assert.equal((await read(last)).status, 'open');
    assert.equal(await round(), 2);
    assert.equal(await mailsOfAnswers(), before + IDLE_TICKETS_PER_ROUND + 1);
    const { status, messages } = await read(full);
    assert.deepEqual([status, messages.length], ['closed', LIMITS.ticketMessagesMax]);
    for (const id of [late, last]) assert.equal((await read(id)).status, 'closed');
    assert.equal(await round(), 0);
    await setTicketClosed(world.service, last, false);
    assert.equal(await round(), 0);
  });

  it('that cannot be closed do not keep others open', async () => {
    const [broken, next] = [await open(), await open()];
    await world.db.run(
      `alter table tickets add check (id <> '${parseId('ticket', broken)}' or status <> 'closed')`,
    );
    pass(LIMITS.ticketIdleDays + 1);
    await round();
    assert.deepEqual([(await read(broken)).status, (await read(next)).status], ['open', 'closed']);
  });
});

/** Sends mails: claims them, renders and sends them outside any transaction, and records the outcome. */
import type { Service } from '../domain/context.ts';
import { sendMail } from '../domain/mail/send.ts';
import { isSwitchOn } from '../domain/rules/switches.ts';
import { nextDue } from '../store/leases.ts';
import { hasPendingMails, retryUnreachableMails } from '../store/mails.ts';
import { MAILS, processClaimed } from './claim.ts';
import type { Job } from './job.ts';

/** Concurrent connections: mail servers dislike many from one client. */
const BATCH_SIZE = 4;

export function mailJob(service: Service): Job {
  const isEnabled = () => isSwitchOn(service.db, 'mail');
  return {
    name: 'mail',
    run: async () => ((await isEnabled()) ? await sendDueMails(service) : 0),
    nextDue: async () => ((await isEnabled()) ? await nextDue(service.db, 'mails') : null),
    busy: async () => (await isEnabled()) && (await hasPendingMails(service.db, service.clock.now())),
  };
}

function sendDueMails(service: Service): Promise<number> {
  return processClaimed(MAILS, service, BATCH_SIZE, async (mails) => {
    const sent = await Promise.allSettled(mails.map((mail) => sendMail(service, mail)));
    for (const { reason } of sent.filter((each) => each.status === 'rejected')) {
      // Its lease is released or expires, and the mail stays queued.
      service.log.warn({ err: reason }, 'saving the mail outcome failed');
    }
    // After the whole batch is recorded: one of its mails may just have seen the server as unreachable.
    const hasRecovered = sent.some((each) => each.status === 'fulfilled' && each.value);
    if (hasRecovered) await retryUnreachableMails(service.db, service.clock.now());
  });
}

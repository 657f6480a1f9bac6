/** Sends mails: claim, write and send outside any transaction, record. */
import type { Service } from '../domain/context.ts';
import { sendMail } from '../domain/mail/send.ts';
import { isSwitchOn } from '../domain/switches/switch.ts';
import { crashPoint } from '../kernel/crash.ts';
import { hasPendingMails, nextMailDue, retryUnreachableMails } from '../store/mails.ts';
import { processClaimedMails } from './claim.ts';
import type { Job } from './job.ts';

/** At once, each over a connection of its own: mail servers do not like many from one place. */
const BATCH_SIZE = 4;

export function mailJob(service: Service): Job {
  const isEnabled = () => isSwitchOn(service.db, 'mail');
  return {
    name: 'mail',
    run: async () => ((await isEnabled()) ? await sendDueMails(service) : 0),
    nextDue: async () => ((await isEnabled()) ? await nextMailDue(service.db) : null),
    busy: async () => (await isEnabled()) && (await hasPendingMails(service.db, service.clock.now())),
  };
}

function sendDueMails(service: Service): Promise<number> {
  return processClaimedMails(service, BATCH_SIZE, async (mails) => {
    crashPoint('mail.claimed');
    const sent = await Promise.allSettled(mails.map((mail) => sendMail(service, mail)));
    for (const { reason } of sent.filter((each) => each.status === 'rejected')) {
      // Its lease is given back, or ends: the mail stays.
      service.log.warn({ err: reason }, 'a mail could not be put down');
    }
    // Not before those beside it are put down, which may have found it away a moment ago.
    const hasRecovered = sent.some((each) => each.status === 'fulfilled' && each.value);
    if (hasRecovered) await retryUnreachableMails(service.db, service.clock.now());
  });
}

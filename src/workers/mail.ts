/** Sends mails: claim, write and send outside any transaction, record. */
import type { Service } from '../domain/context.ts';
import { sendMail } from '../domain/mail/send.ts';
import { isOn } from '../domain/switches/switch.ts';
import { crashPoint } from '../kernel/crash.ts';
import { hurryMails, mailsUnderWay, nextMailDue } from '../store/mails.ts';
import { claimedMails } from './claim.ts';
import type { Duty } from './duty.ts';

/** At once, each over a connection of its own: mail servers do not like many from one place. */
const BATCH = 4;

export function mailDuty(service: Service): Duty {
  const on = () => isOn(service.db, 'mail');
  return {
    name: 'mail',
    run: async () => ((await on()) ? await sendDue(service) : 0),
    nextDue: async () => ((await on()) ? await nextMailDue(service.db) : null),
    busy: async () => (await on()) && (await mailsUnderWay(service.db, service.clock.now())),
  };
}

function sendDue(service: Service): Promise<number> {
  return claimedMails(service, BATCH, async (mails) => {
    crashPoint('mail.claimed');
    const sent = await Promise.allSettled(mails.map((mail) => sendMail(service, mail)));
    for (const { reason } of sent.filter((each) => each.status === 'rejected')) {
      // Its lease is given back, or ends: the mail stays.
      service.log.warn({ err: reason }, 'a mail could not be put down');
    }
    // Not before those beside it are put down, which may have found it away a moment ago.
    const isBack = sent.some((each) => each.status === 'fulfilled' && each.value);
    if (isBack) await hurryMails(service.db, service.clock.now());
  });
}

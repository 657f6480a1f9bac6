import type { MailData } from '../../../spec/mails.ts';
import { months, type Panel, said, topupLink, topupSum, usd, utc, type Written } from './words.ts';

export function lowBalance(data: MailData['low_balance'], panel: Panel): Written {
  const server = said(data.server);
  const missingCents = data.neededCents - data.balanceCents;
  return {
    subject: `Balance too low to renew ${server}`,
    paragraphs: [
      `Your server ${server} is paid until ${utc(data.paidUntil)}. It renews then for ${months(data.months)} at ` +
        `${usd(data.priceCents)}.`,
      `Your balance is ${usd(data.balanceCents)}. What renews in the coming days costs ${usd(data.neededCents)} in all, ` +
        `so ${usd(missingCents)} are missing.`,
      `To keep it running, top up ${topupSum(missingCents)} before that time. Payments need some confirmations of their ` +
        'network, so allow a few hours:',
      topupLink(panel, missingCents),
      'Without a payment the server is suspended at that time: switched off, with its disk and addresses kept for a while.',
    ],
  };
}

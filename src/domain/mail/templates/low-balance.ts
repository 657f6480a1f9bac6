import type { MailData } from '../../../spec/mails.ts';
import {
  describeTopup,
  formatMonths,
  formatUsd,
  formatUtc,
  type MailContent,
  type MailPanel,
  sanitizeLine,
  topupLink,
} from './format.ts';

export function lowBalance(data: MailData['low_balance'], panel: MailPanel): MailContent {
  const server = sanitizeLine(data.server);
  const shortfallCents = data.neededCents - data.balanceCents;
  return {
    subject: `Balance too low to renew ${server}`,
    paragraphs: [
      `Your server ${server} is paid until ${formatUtc(data.paidUntil)}. It renews then for ${formatMonths(data.months)} at ` +
        `${formatUsd(data.priceCents)}.`,
      `Your balance is ${formatUsd(data.balanceCents)}. What renews in the coming days costs ${formatUsd(data.neededCents)} in all, ` +
        `so ${formatUsd(shortfallCents)} are missing.`,
      `To keep it running, top up ${describeTopup(shortfallCents)} before that time. Payments need some confirmations of their ` +
        'network, so allow a few hours:',
      topupLink(panel, shortfallCents),
      'Without a payment the server is suspended at that time: switched off, with its disk and addresses kept for a while.',
    ],
  };
}

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
      `Your server ${server} is paid until ${formatUtc(data.paidUntil)}. It then renews for ` +
        `${formatMonths(data.months)} at ${formatUsd(data.priceCents)}.`,
      `Your balance is ${formatUsd(data.balanceCents)}. Renewals due by then cost ` +
        `${formatUsd(data.neededCents)} in total, so you're short by ${formatUsd(shortfallCents)}.`,
      `To keep the server running, top up ${describeTopup(shortfallCents)} before then. Payments need ` +
        'network confirmations, so allow a few hours:',
      topupLink(panel, shortfallCents),
      'Without a payment, we suspend the server at that time: we power it off and keep its disk and IP ' +
        'addresses for a limited time.',
    ],
  };
}

import type { MailData } from '../../../spec/mails.ts';
import {
  formatMonths,
  formatUsd,
  formatUtc,
  type MailContent,
  type MailPanel,
  sanitizeLine,
  serversLink,
} from './format.ts';

export function serverEnds(data: MailData['server_ends'], panel: MailPanel): MailContent {
  const server = sanitizeLine(data.server);
  return {
    subject: `${server} will not renew`,
    paragraphs: [
      `Your server ${server} is paid until ${formatUtc(data.paidUntil)}, and its automatic renewal is ` +
        'off. At that time, we will suspend it: we power it off, keep its disk and IP addresses for a ' +
        'limited time, and then delete it.',
      'To keep it running, turn on automatic renewal before then (auto_renew in the API). Your balance ' +
        `then pays ${formatUsd(data.priceCents)} for ${formatMonths(data.months)}.`,
      serversLink(panel),
      "If you no longer need it, you don't need to do anything.",
    ],
  };
}

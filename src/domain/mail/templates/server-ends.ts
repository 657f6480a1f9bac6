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
    subject: `${server} is not renewed`,
    paragraphs: [
      `Your server ${server} is paid until ${formatUtc(data.paidUntil)}, and it is set not to renew. It is suspended then: switched off, ` +
        'with its disk and addresses kept for a while, and then destroyed.',
      `To keep it running, switch renewal on before that time (auto_renew). The balance then pays ${formatUsd(data.priceCents)} for ` +
        `${formatMonths(data.months)}.`,
      serversLink(panel),
      'If you do not need it any more, there is nothing to do.',
    ],
  };
}

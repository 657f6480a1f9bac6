import type { MailData } from '../../../spec/mails.ts';
import { months, type Panel, said, serversLink, usd, utc, type Written } from './words.ts';

export function serverEnds(data: MailData['server_ends'], panel: Panel): Written {
  const server = said(data.server);
  return {
    subject: `${server} is not renewed`,
    paragraphs: [
      `Your server ${server} is paid until ${utc(data.paidUntil)}, and it is set not to renew. It is suspended then: switched off, ` +
        'with its disk and addresses kept for a while, and then destroyed.',
      `To keep it running, switch renewal on before that time (auto_renew). The balance then pays ${usd(data.priceCents)} for ` +
        `${months(data.months)}.`,
      serversLink(panel),
      'If you do not need it any more, there is nothing to do.',
    ],
  };
}

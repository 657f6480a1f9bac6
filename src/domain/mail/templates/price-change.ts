import type { MailData } from '../../../spec/mails.ts';
import { day, months, type Panel, said, serversLink, usd, utc, type Written } from './words.ts';

export function priceChange(data: MailData['price_change'], panel: Panel): Written {
  const plan = said(data.plan);
  return {
    subject: `New price for plan ${plan} from ${day(data.from)}`,
    paragraphs: [
      `From ${utc(data.from)} plan ${plan} costs ${usd(data.newMonthCents)} a month; until then it costs ` +
        `${usd(data.oldMonthCents)}. What is paid already stays as it is: each server pays the new price when it next renews.`,
      data.servers
        .map(
          ({ server, months: count, oldCycleCents, newCycleCents, renewsAt }) =>
            `* ${said(server)}: ${usd(newCycleCents)} for ${months(count)} instead of ${usd(oldCycleCents)}, ` +
            `first at ${utc(renewsAt)}`,
        )
        .join('\n'),
      'If you agree, there is nothing to do. If you do not, switch automatic renewal off for a server, or destroy it:',
      serversLink(panel),
    ],
  };
}

import type { MailData } from '../../../spec/mails.ts';
import {
  formatDay,
  formatMonths,
  formatUsd,
  formatUtc,
  type MailContent,
  type MailPanel,
  sanitizeLine,
  serversLink,
} from './format.ts';

export function priceChange(data: MailData['price_change'], panel: MailPanel): MailContent {
  const plan = sanitizeLine(data.plan);
  return {
    subject: `New price for plan ${plan} from ${formatDay(data.from)}`,
    paragraphs: [
      `From ${formatUtc(data.from)} plan ${plan} costs ${formatUsd(data.newMonthCents)} a month; until then it costs ` +
        `${formatUsd(data.oldMonthCents)}. What is paid already stays as it is: each server pays the new price when it next renews.`,
      data.servers
        .map(
          ({ server, months: count, oldCycleCents, newCycleCents, renewsAt }) =>
            `* ${sanitizeLine(server)}: ${formatUsd(newCycleCents)} for ${formatMonths(count)} instead of ${formatUsd(oldCycleCents)}, ` +
            `first at ${formatUtc(renewsAt)}`,
        )
        .join('\n'),
      'If you agree, there is nothing to do. If you do not, switch automatic renewal off for a server, or destroy it:',
      serversLink(panel),
    ],
  };
}

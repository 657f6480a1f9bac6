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
      `From ${formatUtc(data.from)}, plan ${plan} costs ${formatUsd(data.newMonthCents)} per month. ` +
        `Until then, it costs ${formatUsd(data.oldMonthCents)}. Time that you have already paid for is ` +
        'not affected: you pay the new price for each server when it next renews after that date.',
      data.servers
        .map(
          ({ server, months, oldCycleCents, newCycleCents, renewsAt }) =>
            `* ${sanitizeLine(server)}: ${formatUsd(newCycleCents)} for ${formatMonths(months)} instead of ` +
            `${formatUsd(oldCycleCents)} from ${formatUtc(renewsAt)}`,
        )
        .join('\n'),
      "If you agree, you don't need to do anything. Otherwise, turn off automatic renewal for a server or " +
        'delete it:',
      serversLink(panel),
    ],
  };
}

import type { MailData } from '../../../spec/mails.ts';
import { PANEL_PATHS } from '../../../spec/paths.ts';
import { formatUsd, formatUtc, type MailContent, type MailPanel, panelLink, sanitizeLine } from './format.ts';

export function topupCredited(data: MailData['topup_credited'], panel: MailPanel): MailContent {
  const bonus = data.bonusCents > 0n ? ` plus a bonus of ${formatUsd(data.bonusCents)}` : '';
  return {
    subject: `Top-up credited: ${formatUsd(data.creditedCents)}`,
    paragraphs: [
      `Your ${sanitizeLine(data.coin)} payment is confirmed. We credited ` +
        `${formatUsd(data.creditedCents)}${bonus} at ${formatUtc(data.creditedAt)}. Your balance after ` +
        `this top-up is ${formatUsd(data.balanceCents)}.`,
      `Top-up ID: ${sanitizeLine(data.topup)}`,
      panelLink(panel, PANEL_PATHS.billing),
    ],
  };
}

import type { MailData } from '../../../spec/mails.ts';
import { PANEL_PATHS } from '../../../spec/paths.ts';
import { formatUsd, formatUtc, type MailContent, type MailPanel, panelLink, sanitizeLine } from './format.ts';

export function topupCredited(data: MailData['topup_credited'], panel: MailPanel): MailContent {
  const bonus = data.bonusCents > 0n ? `, and a bonus of ${formatUsd(data.bonusCents)}` : '';
  return {
    subject: `Top-up credited: ${formatUsd(data.creditedCents)}`,
    paragraphs: [
      `Your payment in ${sanitizeLine(data.coin)} is confirmed. ${formatUsd(data.creditedCents)} were credited at ` +
        `${formatUtc(data.creditedAt)}${bonus}. Your balance was ${formatUsd(data.balanceCents)} then.`,
      `Top-up: ${sanitizeLine(data.topup)}`,
      panelLink(panel, PANEL_PATHS.billing),
    ],
  };
}

import type { MailData } from '../../../spec/mails.ts';
import { PANEL_PATHS } from '../../../spec/paths.ts';
import { link, type Panel, said, usd, utc, type Written } from './words.ts';

export function topupCredited(data: MailData['topup_credited'], panel: Panel): Written {
  const bonus = data.bonusCents > 0n ? `, and a bonus of ${usd(data.bonusCents)}` : '';
  return {
    subject: `Top-up credited: ${usd(data.creditedCents)}`,
    paragraphs: [
      `Your payment in ${said(data.coin)} is confirmed. ${usd(data.creditedCents)} were credited at ` +
        `${utc(data.creditedAt)}${bonus}. Your balance was ${usd(data.balanceCents)} then.`,
      `Top-up: ${said(data.topup)}`,
      link(panel, PANEL_PATHS.billing),
    ],
  };
}

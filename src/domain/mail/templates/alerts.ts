/** Mail about alerts that fire. */
import { ALERT_METRICS, ALERT_WINDOWS } from '../../../spec/alerts.ts';
import type { MailData } from '../../../spec/mails/data.ts';
import { PANEL_PATHS } from '../../../spec/paths.ts';
import { formatCount, formatUtc, type MailTemplates, panelLink, sanitizeLine } from './format.ts';

type FiredAlert = MailData['alerts_fired']['alerts'][number];

export const ALERT_MAILS = {
  alerts_fired(data, panel) {
    const [first] = data.alerts;
    const total = data.alerts.length + data.more;
    const isSingle = total === 1 && first !== undefined;
    return {
      subject: isSingle
        ? `Alert: ${sanitizeLine(first.name)} on ${sanitizeLine(first.server)}`
        : `${formatCount(total, 'alert')} fired`,
      paragraphs: [
        `${isSingle ? 'An alert' : formatCount(total, 'alert')} fired at ${formatUtc(data.firedAt)}:`,
        ...data.alerts.map(describeAlert),
        ...(data.more > 0 ? [`${data.more} more are not listed here.`] : []),
        ...(data.isLast ? ['This is the last email about alerts for up to an hour.'] : []),
        'The alerts, and those that still fire:',
        panelLink(panel, PANEL_PATHS.alerts),
      ],
    };
  },
} satisfies Partial<MailTemplates>;

function describeAlert({ name, server, metric, compare, value, window }: FiredAlert): string {
  const { title, unit } = ALERT_METRICS[metric];
  const subject = `${sanitizeLine(name)}, server ${sanitizeLine(server)}`;
  const minutes = `${ALERT_WINDOWS[window]} minutes`;
  if (value === null) return `${subject}: its machine has not been seen running for ${minutes}.`;
  const amount = `${value}${unit === 'percent' ? '%' : ' bytes per second'}`;
  const bound = `${compare === 'lt' ? 'below' : 'above'} ${amount}`;
  return metric === 'transfer_pct'
    ? `${subject}: ${title} is ${bound}.`
    : `${subject}: ${title} ${bound} for ${minutes}.`;
}

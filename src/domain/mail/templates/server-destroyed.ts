import type { MailData } from '../../../spec/mails.ts';
import { formatUtc, type MailContent, type MailPanel, sanitizeLine, serversLink } from './format.ts';

export function serverDestroyed(data: MailData['server_destroyed'], panel: MailPanel): MailContent {
  const server = sanitizeLine(data.server);
  return {
    subject: `${server} was deleted`,
    paragraphs: [
      `Your server ${server} was suspended at ${formatUtc(data.suspendedAt)} ` +
        `${describeReason(data.reason)}. Its grace period ended, so we deleted it at ` +
        `${formatUtc(data.destroyedAt)}.`,
      'Its disk was wiped and its IP addresses were released. Its volumes and snapshots are still ' +
        'yours. You can use them with a new server in the same region:',
      serversLink(panel),
    ],
  };
}

function describeReason(reason: MailData['server_destroyed']['reason']): string {
  if (reason === 'operator') return 'by our team';
  if (reason === 'not_renewed') return 'because automatic renewal was off';
  return 'because your balance did not cover its renewal';
}

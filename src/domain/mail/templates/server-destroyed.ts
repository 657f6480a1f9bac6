import type { MailData } from '../../../spec/mails.ts';
import { formatUtc, type MailContent, type MailPanel, sanitizeLine, serversLink } from './format.ts';

export function serverDestroyed(data: MailData['server_destroyed'], panel: MailPanel): MailContent {
  const server = sanitizeLine(data.server);
  return {
    subject: `Destroyed: ${server}`,
    paragraphs: [
      `Your server ${server}, suspended since ${formatUtc(data.suspendedAt)}, was destroyed at ${formatUtc(data.destroyedAt)} because ` +
        `its grace period ended. ${describeReason(data.reason)}`,
      'Its disk is wiped and its addresses are given up. Its volumes and snapshots are still yours: a new server in the same ' +
        'region can use them.',
      serversLink(panel),
    ],
  };
}

function describeReason(reason: MailData['server_destroyed']['reason']): string {
  if (reason === 'operator') return 'The operator of this service had stopped it.';
  if (reason === 'not_renewed') return 'It was set not to renew.';
  return 'The balance had not sufficed to renew it.';
}

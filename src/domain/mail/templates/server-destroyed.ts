import type { MailData } from '../../../spec/mails.ts';
import { type Panel, said, serversLink, utc, type Written } from './words.ts';

export function serverDestroyed(data: MailData['server_destroyed'], panel: Panel): Written {
  const server = said(data.server);
  return {
    subject: `Destroyed: ${server}`,
    paragraphs: [
      `Your server ${server}, suspended since ${utc(data.suspendedAt)}, was destroyed at ${utc(data.destroyedAt)} because ` +
        `its grace period ended. ${because(data.reason)}`,
      'Its disk is wiped and its addresses are given up. Its volumes and snapshots are still yours: a new server in the same ' +
        'region can use them.',
      serversLink(panel),
    ],
  };
}

function because(reason: MailData['server_destroyed']['reason']): string {
  if (reason === 'operator') return 'The operator of this service had stopped it.';
  if (reason === 'not_renewed') return 'It was set not to renew.';
  return 'The balance had not sufficed to renew it.';
}

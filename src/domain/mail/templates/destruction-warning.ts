import type { MailData } from '../../../spec/mails.ts';
import { formatDays, formatUtc, type MailContent, type MailPanel, sanitizeLine } from './format.ts';
import { resumeInstructions } from './server-suspended.ts';

export function destructionWarning(data: MailData['destruction_warning'], panel: MailPanel): MailContent {
  const server = sanitizeLine(data.server);
  return {
    subject: `${server} will be destroyed in ${formatDays(data.days)}`,
    paragraphs: [
      `Your server ${server} is suspended. If nothing changes, it is destroyed at ${formatUtc(data.destroyAt)}: its disk is ` +
        'wiped and its addresses are given up. That cannot be undone. Volumes and snapshots are kept.',
      ...resumeInstructions(data, panel),
      'If you do not need it any more, there is nothing to do.',
    ],
  };
}

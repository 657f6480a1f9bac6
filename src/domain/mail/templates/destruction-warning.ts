import type { MailData } from '../../../spec/mails.ts';
import { formatDays, formatUtc, type MailContent, type MailPanel, sanitizeLine } from './format.ts';
import { resumeInstructions } from './server-suspended.ts';

export function destructionWarning(data: MailData['destruction_warning'], panel: MailPanel): MailContent {
  const server = sanitizeLine(data.server);
  return {
    subject: `${server} will be deleted in ${formatDays(data.days)}`,
    paragraphs: [
      `Your server ${server} is suspended. If it is still suspended at ${formatUtc(data.destroyAt)}, we ` +
        'will delete it: its disk is wiped and its IP addresses are released. This cannot be undone. ' +
        'Volumes and snapshots are kept.',
      ...resumeInstructions(data, panel),
      "If you no longer need it, you don't need to do anything.",
    ],
  };
}

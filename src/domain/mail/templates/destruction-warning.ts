import type { MailData } from '../../../spec/mails.ts';
import { howToResume } from './server-suspended.ts';
import { days, type Panel, said, utc, type Written } from './words.ts';

export function destructionWarning(data: MailData['destruction_warning'], panel: Panel): Written {
  const server = said(data.server);
  return {
    subject: `${server} will be destroyed in ${days(data.days)}`,
    paragraphs: [
      `Your server ${server} is suspended. If nothing changes, it is destroyed at ${utc(data.destroyAt)}: its disk is ` +
        'wiped and its addresses are given up. That cannot be undone. Volumes and snapshots are kept.',
      ...howToResume(data, panel),
      'If you do not need it any more, there is nothing to do.',
    ],
  };
}

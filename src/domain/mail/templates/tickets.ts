/** Mail about tickets. */
import { PANEL_PATHS, resourcePath } from '../../../spec/paths.ts';
import { type MailTemplates, panelLink, sanitizeLine, sanitizeText } from './format.ts';

export const TICKET_MAILS = {
  ticket_answered(data, panel) {
    const subject = sanitizeLine(data.subject);
    return {
      subject: `Answer to your ticket: ${subject}`,
      paragraphs: [
        data.isClosed ? 'We answered your ticket, and closed it:' : 'We answered your ticket:',
        sanitizeText(data.text),
        'Read the ticket, and reply:',
        panelLink(panel, resourcePath(PANEL_PATHS.support, data.ticket)),
      ],
    };
  },
} satisfies Partial<MailTemplates>;

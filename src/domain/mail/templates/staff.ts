/** Mail that staff write: to one customer in a ticket, and to many. */
import { PANEL_PATHS, resourcePath } from '../../../spec/paths.ts';
import { TALKING_LIMITS } from '../../../spec/staff/talking.ts';
import { formatUtc, type MailTemplates, panelLink, sanitizeLine, sanitizeText } from './format.ts';

const READ_TICKET = {
  none: 'Read the ticket, and reply:',
  plain: 'Reply to this email, or read the ticket and reply there:',
  encrypted: 'Read the ticket, and reply there. You can also reply to this email, but not encrypted:',
};

/** Everyone whom it concerns gets it. */
const WHY_SERVICE =
  'This email is about the service at the website above. Everyone whom it concerns gets it.';
const WHY_NEWS = 'You get news from the website above as its customer. To turn it off, open this link:';

export const STAFF_MAILS = {
  ticket_answered(data, panel) {
    const subject = sanitizeLine(data.subject);
    return {
      // Mail programs keep a conversation together by its subject, too.
      subject: panel.repliesByMail
        ? `Re: ${subject.replace(/^(?:re: *)+/i, '')}`
        : `Answer to your ticket: ${subject}`,
      paragraphs: [
        data.isClosed ? 'We answered your ticket, and closed it:' : 'We answered your ticket:',
        sanitizeText(data.text),
        READ_TICKET[panel.repliesByMail ?? 'none'],
        panelLink(panel, resourcePath(PANEL_PATHS.support, data.ticket)),
      ],
    };
  },

  ticket_opened(data, panel) {
    return {
      subject: sanitizeLine(data.subject),
      paragraphs: [
        sanitizeText(data.text),
        `We ask for your answer by ${formatUtc(data.answerBy)}.`,
        READ_TICKET[panel.repliesByMail ?? 'none'],
        panelLink(panel, resourcePath(PANEL_PATHS.support, data.ticket)),
      ],
    };
  },

  mailing: ({ subject, text, off }, panel) => ({
    subject: sanitizeLine(subject, TALKING_LIMITS.subjectMaxChars),
    paragraphs: sanitizeText(text)
      .split(/\n{2,}/)
      // A line of two dashes begins the signature.
      .map((paragraph) => paragraph.replace(/^-- $/gm, '--')),
    why: off === null ? [WHY_SERVICE] : [WHY_NEWS, panelLink(panel, off.path)],
    ...(off !== null && { unsubscribeUrl: panelLink(panel, off.postPath) }),
  }),
} satisfies Partial<MailTemplates>;

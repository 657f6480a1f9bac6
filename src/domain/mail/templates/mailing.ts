/** Mail that staff write to many customers. */
import { TALKING_LIMITS } from '../../../spec/staff/talking.ts';
import { type MailTemplates, panelLink, sanitizeLine, sanitizeText } from './format.ts';

/** Everyone whom it concerns gets it. */
const WHY_SERVICE =
  'This email is about the service at the website above. Everyone whom it concerns gets it.';
const WHY_NEWS = 'You get news from the website above as its customer. To turn it off, open this link:';

export const MAILING_MAILS = {
  mailing: ({ subject, text, off }, panel) => ({
    subject: sanitizeLine(subject, TALKING_LIMITS.subjectMaxChars),
    paragraphs: sanitizeText(text)
      .split(/\n{2,}/)
      // A line of two dashes begins the signature.
      .map((paragraph) => paragraph.replace(/^-- $/gm, '--')),
    why: off === null ? [WHY_SERVICE] : [WHY_NEWS, panelLink(panel, off.path)],
    ...(off !== null && { unsubscribeUrl: panelLink(panel, off.postPath) }),
  }),
} satisfies Pick<MailTemplates, 'mailing'>;

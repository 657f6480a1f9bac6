/** Announcements of staff, above every page. */
import { PANEL_PATHS } from '../../spec/paths.ts';
import { type FormContext, form } from './form.ts';
import { type Html, html } from './html.ts';

export interface Announcement {
  readonly id: string;
  readonly title: string;
  /** Of several paragraphs. */
  readonly text: string;
  readonly level: 'info' | 'warning';
  readonly link: string | null;
}

export const DISMISS_FORM = 'dismiss';
export const BACK_FIELD = 'back';

export interface FrameAnnouncements {
  readonly shown: readonly Announcement[];
  /** Whether there are more of them. */
  readonly hasMore: boolean;
  /** The page to return to after dismissing one; null: visitors cannot. */
  readonly back: string | null;
}

/** Above the page. */
export function announcements({ shown, hasMore, back }: FrameAnnouncements, forms: FormContext): Html | null {
  if (shown.length === 0) return null;
  const more = html`<p><a href="${PANEL_PATHS.announcements}">All announcements</a></p>\n`;
  return html`${shown.map((each) => announcement(each, dismissForm(each, back, forms)))}${hasMore && more}`;
}

function announcement(row: Announcement, after: Html | null): Html {
  const tone = row.level === 'warning' ? 'warn' : 'info';
  return html`<div class="banner announcement ${tone}" role="group" aria-labelledby="${row.id}">
<div><p id="${row.id}"><strong>${row.title}</strong></p>
${paragraphsOf(row)}</div>${after}</div>\n`;
}

export function paragraphsOf({ title, text, link }: Announcement): Html {
  const paragraphs = text.split('\n').filter((line) => line.trim() !== '');
  return html`${paragraphs.map((line) => html`<p>${line}</p>\n`)}${
    link && html`<p><a href="${link}">Read more<span class="unseen"> about “${title}”</span></a></p>\n`
  }`;
}

function dismissForm({ id, title }: Announcement, back: string | null, forms: FormContext): Html | null {
  if (back === null) return null;
  return form(
    forms,
    { name: DISMISS_FORM, key: id, action: PANEL_PATHS.announcements, class: 'no-print' },
    html`<input type="hidden" name="${BACK_FIELD}" value="${back}">
<button class="plain">Dismiss<span class="unseen"> “${title}”</span></button>`,
  );
}

/** The page of the announcements that the customer dismissed. The others are above every page. */
import { type Announcement, paragraphsOf } from '../parts/announcements.ts';
import { emptyState, section, time } from '../parts/components.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';

interface DismissedAnnouncement extends Announcement {
  readonly since: string;
}

export function announcementsView(data: {
  readonly dismissed: readonly DismissedAnnouncement[];
  /** Whether there are others, which the frame shows. */
  readonly hasOthers: boolean;
}): View {
  const { dismissed, hasOthers } = data;
  return {
    title: 'Announcements',
    body: html`${
      dismissed.length === 0 &&
      !hasOthers &&
      emptyState('No announcements', 'There is nothing to announce now.')
    }${dismissed.map(dismissedSection)}`,
  };
}

function dismissedSection(row: DismissedAnnouncement): Html {
  return section(
    row.title,
    html`<p class="soft">Since ${time(row.since)}. You dismissed it.</p>
${paragraphsOf(row)}`,
  );
}

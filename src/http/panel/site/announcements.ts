/** The page of announcements, and the form above every page that dismisses one. */
import { announcementsFor, dismissAnnouncement } from '../../../domain/customers/talking/shown.ts';
import { BACK_FIELD, DISMISS_FORM } from '../../../panel/parts/announcements.ts';
import { announcementsView } from '../../../panel/site/announcements.ts';
import { PANEL_FIELDS, PANEL_PATHS } from '../../../spec/paths.ts';
import { field } from '../../form.ts';
import { isLocalPath } from '../account/sign-in.ts';
import type { CustomForm, PanelPage } from '../page-types.ts';

/** A preference of one person about one text: nothing for the audit log. */
const dismissForm: CustomForm = {
  audit: null,
  skipIdempotency: true,
  run: async ({ edge, form, customer }) => {
    await dismissAnnouncement(edge.service, customer(), field(form, PANEL_FIELDS.key));
    const back = field(form, BACK_FIELD);
    return { to: isLocalPath(back) ? back : PANEL_PATHS.announcements };
  },
};

export const ANNOUNCEMENTS_PAGE: PanelPage = {
  path: PANEL_PATHS.announcements,
  access: 'customer',
  render: async ({ edge, service, customer }) => {
    const { announcements } = await edge.rules.read();
    const found = await announcementsFor(service, announcements, customer().customerId);
    const dismissed = found.filter(({ isDismissed }) => isDismissed);
    return announcementsView({ dismissed, hasOthers: found.length > dismissed.length });
  },
  forms: { [DISMISS_FORM]: dismissForm },
};

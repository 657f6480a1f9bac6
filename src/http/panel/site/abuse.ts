/** /abuse: anyone reports abuse of our addresses, if the host turned the form on. */
import { reportAbuse } from '../../../domain/staff/abuse/record.ts';
import { fail } from '../../../kernel/fail.ts';
import { abuseReportedView, reportAbuseView } from '../../../panel/site/abuse.ts';
import { PANEL_PATHS } from '../../../spec/paths.ts';
import { field } from '../../form.ts';
import type { Edge } from '../../settings.ts';
import { deduplicateForAMinute } from '../account/session-form.ts';
import type { CustomForm, PanelPage } from '../page-types.ts';

function requireForm({ settings }: Pick<Edge, 'settings'>): void {
  if (!settings.site.abuseForm) fail('not_found');
}

/** The answer says nothing about the address: not even whether it is ours. */
const reportForm: CustomForm = {
  audit: null,
  limitedBy: 'reports',
  skipIdempotency: true,
  around: deduplicateForAMinute,
  run: async ({ edge, form }) => {
    requireForm(edge);
    const report = await reportAbuse(edge.service, {
      kind: field(form, 'kind'),
      address: field(form, 'address'),
      time: field(form, 'time'),
      evidence: field(form, 'evidence'),
      reporter: field(form, 'reporter'),
    });
    return { shown: { report } };
  },
};

export const ABUSE_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.abuse,
    access: 'anyone',
    render: ({ edge, forms, shown }) => {
      requireForm(edge);
      return shown ? abuseReportedView(shown.texts.report ?? '') : reportAbuseView(forms);
    },
    forms: { report: reportForm },
  },
];

/** The public form for reports of abuse. */
import { ABUSE_KIND_NAMES, ABUSE_KINDS, ABUSE_LIMITS } from '../../spec/staff/abuse.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';

export function reportAbuseView(forms: FormContext): View {
  const fields = new Fields(forms, 'report');
  const kinds = ABUSE_KINDS.map((kind) => [kind, ABUSE_KIND_NAMES[kind]] as const);
  return {
    title: 'Report abuse',
    body: html`<p>Tell us about spam, attacks, or other abuse from one of our IP addresses. We find the server
that had the address at that time, and ask its customer to answer. We don’t tell the customer who sent
the report.</p>
${form(
  forms,
  { name: 'report' },
  html`${fields.text('address', 'IP address of our server', { required: true, maxLength: 45 })}
${fields.text('time', 'Time (UTC)', {
  required: true,
  maxLength: 40,
  placeholder: '2026-12-01 22:00',
  hint: 'When it happened, such as 2026-12-01 22:00.',
})}
${fields.select('kind', 'Kind', { value: 'spam', choices: kinds })}
${fields.textarea('evidence', 'What happened', {
  required: true,
  rows: 10,
  maxLength: ABUSE_LIMITS.formTextMaxChars,
  hint: 'With log lines, and the addresses and ports of your systems. Never send passwords.',
})}
${fields.text('reporter', 'Your email address', {
  type: 'email',
  maxLength: ABUSE_LIMITS.reporterMaxChars,
  autocomplete: 'email',
  hint: `Optional. We delete it ${ABUSE_LIMITS.reporterDays} days after we close the report.`,
})}
<button>Send report</button>`,
)}`,
  };
}

export function abuseReportedView(report: string): View {
  return {
    title: 'Thank you',
    body: html`<p>We received your report. Its number is <code>${report}</code>.</p>`,
  };
}

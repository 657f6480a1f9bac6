/** Account deletion: its consequences, its obstacles, and the confirmation afterwards. */
import { LIMITS } from '../../spec/limits.ts';
import { ACCOUNT_PATHS, PANEL_PATHS } from '../../spec/paths.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { exactUsd, usd } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { accountTabs, ownerFields } from './components.ts';

interface DeletionImpact {
  readonly email: string;
  /** US dollars. */
  readonly forfeited: number;
  readonly servers: number;
  readonly legalHold: boolean;
  readonly paymentPending: boolean;
}

export function deleteAccountView(data: {
  readonly impact: DeletionImpact;
  readonly forms: FormContext;
  readonly hasPasskeys: boolean;
}): View {
  const { impact, forms, hasPasskeys } = data;
  const obstacle = deletionObstacle(impact);
  return {
    title: 'Delete account',
    section: 'account',
    breadcrumbs: [['Account', ACCOUNT_PATHS.overview]],
    scripts: hasPasskeys ? ['passkeys'] : [],
    body: html`${accountTabs(ACCOUNT_PATHS.delete)}
${losses(impact)}
${obstacle === null ? deleteForm(impact, forms, hasPasskeys) : html`<p class="banner warn">${obstacle}</p>`}`,
  };
}

function losses({ servers, forfeited }: DeletionImpact): Html {
  const serverLoss =
    servers === 0
      ? 'You have no servers.'
      : `${describeServers(servers)} deleted with everything on ${servers === 1 ? 'it' : 'them'}.`;
  const balance =
    forfeited > 0 ? `You lose your balance of ${usd(forfeited)}.` : 'You have no balance to lose.';
  return html`<p>This can’t be undone.</p>
<ul>
<li><strong>${serverLoss}</strong> Your volumes, snapshots, and images are deleted${
    servers > 0 && ' too'
  }.</li>
<li><strong>${balance}</strong> ${servers > 0 && 'You get no refund for deleted servers.'}</li>
<li>All sessions and API tokens end immediately. You can sign up with this address again once everything is
removed.</li>
<li>We keep payment amounts under an anonymous number, and the audit log for ${LIMITS.auditRetentionDays}
days.</li>
</ul>`;
}

function describeServers(count: number): string {
  return count === 1 ? 'Your server will be' : `Your ${count} servers will be`;
}

function deletionObstacle({ legalHold, paymentPending }: DeletionImpact): string | null {
  if (legalHold)
    return 'You can’t delete this account: one of its servers is under a legal hold. Contact us.';
  if (paymentPending)
    return (
      'You can’t delete this account while a payment is pending or withheld. Find it under Billing, and ' +
      'wait until it is credited, or contact us for a refund.'
    );
  return null;
}

function deleteForm({ servers, email }: DeletionImpact, forms: FormContext, hasPasskeys: boolean): Html {
  const fields = new Fields(forms, 'delete');
  const label = servers === 1 ? 'Delete my server' : `Delete my ${servers} servers`;
  return form(
    forms,
    { name: 'delete' },
    html`${servers > 0 && fields.checkbox('destroy_servers', label)}
${fields.text('email', `Enter ${email} to confirm`, {
  required: true,
  autocomplete: 'off',
})}
${ownerFields(fields, hasPasskeys)}
<button class="danger">Delete account</button>`,
  );
}

export function deletedView(data: { readonly isCompleted: boolean; readonly forfeited: string }): View {
  const lost =
    Number(data.forfeited) > 0 && html`<p>You gave up a balance of ${exactUsd(data.forfeited)}.</p>\n`;
  return {
    title: data.isCompleted ? 'Account deleted' : 'Your account is being deleted',
    body: html`<p>${
      data.isCompleted
        ? 'We no longer hold anything that identifies you. You are signed out everywhere.'
        : 'We’ll email you once your servers and disks are removed. You are signed out everywhere.'
    }</p>
${lost}<p><a href="${PANEL_PATHS.home}">Home</a></p>`,
  };
}

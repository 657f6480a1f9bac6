/** The end of an account: what is lost with it, what keeps it, and what is said when it is gone. */
import { ACCOUNT_PATHS, PANEL_PATHS } from '../spec/paths.ts';
import { accountTabs, passwordField } from './account-components.ts';
import { usd } from './components.ts';
import { Fields, type FormContext, form } from './form.ts';
import { type Html, html } from './html.ts';
import type { View } from './layout.ts';

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
}): View {
  const { impact, forms } = data;
  const obstacle = deletionObstacle(impact);
  return {
    title: 'Delete the account',
    section: 'account',
    breadcrumbs: [['Account', ACCOUNT_PATHS.overview]],
    body: html`${accountTabs(ACCOUNT_PATHS.delete)}
${losses(impact)}
${obstacle === null ? deleteForm(impact, forms) : html`<p class="banner warn">${obstacle}</p>`}`,
  };
}

function losses({ servers, forfeited }: DeletionImpact): Html {
  const serverLoss =
    servers === 0
      ? 'You have no servers.'
      : `${describeServers(servers)} destroyed with everything on ${servers === 1 ? 'it' : 'them'}.`;
  const balance =
    forfeited > 0 ? `Your balance of ${usd(forfeited)} is lost.` : 'You have no balance to lose.';
  return html`<p>Nothing of this can be taken back:</p>
<ul>
<li><strong>${serverLoss}</strong> Volumes, snapshots and your own images are deleted.</li>
<li><strong>${balance}</strong> ${servers > 0 && 'What destroyed servers give back is lost too.'}</li>
<li>All sessions and API tokens end at once. The address may be used for a new account when everything is removed.</li>
<li>The books keep amounts, under a number that leads to nobody; the audit log goes when its time is over.</li>
</ul>`;
}

function describeServers(count: number): string {
  return count === 1 ? 'Your server is' : `Your ${count} servers are`;
}

function deletionObstacle({ legalHold, paymentPending }: DeletionImpact): string | null {
  if (legalHold)
    return 'A server of this account is under a legal hold: the account cannot be deleted. Contact the operator.';
  if (paymentPending)
    return 'A payment is on its way or held: wait until it is credited, or ask for it back. Then the account can be deleted.';
  return null;
}

function deleteForm({ servers, email }: DeletionImpact, forms: FormContext): Html {
  const fields = new Fields(forms, 'delete');
  const label = servers === 1 ? 'Destroy my server' : `Destroy my ${servers} servers`;
  return form(
    forms,
    { name: 'delete' },
    html`${servers > 0 && fields.checkbox('destroy_servers', label)}
${fields.text('email', `Type the address of the account: ${email}`, {
  required: true,
  autocomplete: 'off',
})}
${passwordField(fields)}
<button class="danger">Delete the account</button>`,
  );
}

export function deletedView(data: { readonly isCompleted: boolean; readonly forfeited: string }): View {
  const lost = Number(data.forfeited) > 0 && html`<p>A balance of $${data.forfeited} was forfeited.</p>\n`;
  return {
    title: data.isCompleted ? 'Your account is deleted' : 'Your account is being deleted',
    body: html`<p>${
      data.isCompleted
        ? 'Nothing of it is left that leads to you. You are signed out everywhere.'
        : 'Servers and disks are being removed; a mail says when the last of it is gone. You are signed out everywhere.'
    }</p>
${lost}<p><a href="${PANEL_PATHS.home}">To the front page</a></p>`,
  };
}

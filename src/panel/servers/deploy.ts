/** The form to order a server. */
import { LIMITS } from '../../spec/limits.ts';
import { DEPLOY_PATH, PANEL_PATHS } from '../../spec/paths.ts';
import type { Plan } from '../../spec/schemas/plan.ts';
import { emptyState } from '../parts/components.ts';
import { Fields, form } from '../parts/form.ts';
import { Html, html } from '../parts/html.ts';
import { labelsField } from '../parts/label-fields.ts';
import { labelsOf } from '../parts/labels.ts';
import type { View } from '../parts/layout.ts';
import { imageChoices } from '../resources/images.ts';
import {
  choiceGroup,
  cycleChoices,
  groupChoices,
  planChoices,
  regionChoices,
  volumeChoices,
} from './deploy-choices.ts';
import type { DeployData } from './deploy-data.ts';
import { loginChoice } from './deploy-login.ts';
import { totalBox } from './deploy-total.ts';
import { discardOrder, draftField, keptOrders } from './kept-orders.ts';

export function deployView(data: DeployData): View {
  const { closed, plans } = data;
  const body =
    closed !== null || plans.length === 0
      ? emptyState('New servers are unavailable right now.', closed ?? 'No plans are offered yet.')
      : deployForm(data);
  return {
    title: 'Deploy a server',
    section: 'servers',
    breadcrumbs: [['Servers', PANEL_PATHS.servers]],
    body,
  };
}

function deployForm(data: DeployData): Html {
  const { forms, given, draft } = data;
  const fields = new Fields(forms, 'deploy');
  const parts = html`<input type="hidden" name="sent" value="yes">
${draft !== null && draftField(draft)}${choiceGroup(fields, 'plan', 'Plan', planChoices(data, fields))}
<div class="columns"><div>
${choiceGroup(fields, 'region', 'Region', regionChoices(data, fields))}
${choiceGroup(fields, 'billing_months', 'Billing cycle', cycleChoices(data, fields))}
${fields.select('image', 'Image', {
  value: given.get('image') ?? '',
  required: true,
  choices: [['', 'Choose an image'], ...imageChoices(data.images), ...snapshotChoices(data)],
})}
${fields.text('name', 'Name', {
  value: given.get('name') ?? data.suggestedName,
  required: true,
  maxLength: LIMITS.nameMaxChars,
  autocomplete: 'off',
  hint: 'Lowercase letters, digits, and dashes, starting with a letter.',
})}
</div><div>
${loginChoice(data, fields)}
${groupChoices(data, fields)}
${volumeChoices(data, fields)}
</div></div>
${advancedFields(data, fields)}
<div aria-live="polite">${totalBox(data, fields)}</div>`;
  return html`${keptOrders(data.keptOrders, forms)}
${form(forms, { name: 'deploy', action: DEPLOY_PATH, live: '#total, .per-month' }, parts)}
${draft !== null && discardOrder(draft, forms)}`;
}

/** The newest snapshots, and the older snapshot that the page was opened with. */
function snapshotChoices({ snapshots, given }: DeployData): (readonly [value: string, name: string])[] {
  const label = labelsOf(snapshots);
  const choices = snapshots.map((each) => [each.id, `Snapshot: ${label(each)}`] as const);
  const chosen = given.get('image') ?? '';
  const isOlder = chosen.startsWith('snap_') && snapshots.every(({ id }) => id !== chosen);
  return isOlder ? [...choices, [chosen, `Snapshot: ${chosen}`]] : choices;
}

/** The price itself is in the total. */
function backupPrice(plans: readonly Plan[]): string {
  const [percent, ...others] = new Set(plans.map((plan) => plan.backup_percent));
  if (others.length > 0) return 'The price depends on the plan, and is a part of the total.';
  return percent ? `Costs ${percent}% of the price of the plan.` : 'Backups are free.';
}

function advancedFields({ given, forms, plans }: DeployData, fields: Fields): Html {
  const value = (name: string) => given.get(name) ?? '';
  const used = ['tags', 'labels', 'user_data'].some((name) => value(name) !== '');
  const open = used || forms.problems.some(({ field }) => /^(tags|labels|user_data)/.test(field));
  return html`${fields.checkbox('auto_renew', 'Renew automatically if your balance covers it', {
    value: !given.has('sent') || given.has('auto_renew'),
  })}
${fields.checkbox('backups', 'Back up the server every day', {
  value: given.has('backups'),
  hint: backupPrice(plans),
})}
${fields.checkbox('stay_off', 'Don’t start it yet: its first start sets it up', {
  value: given.has('stay_off'),
})}
<details${open && new Html(' open')}><summary>Tags, labels, and user data</summary>
${fields.textarea('tags', 'Tags', { value: value('tags'), rows: 3, hint: 'One per line.' })}
${labelsField(fields, 'Labels', value('labels'))}
${fields.textarea('user_data', 'User data', {
  value: value('user_data'),
  rows: 8,
  hint: 'For cloud-init: a script or #cloud-config, up to 64 KiB. Deleted once the server is running.',
})}
</details>`;
}

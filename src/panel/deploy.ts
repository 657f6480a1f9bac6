/** The page that orders a server. */
import { CYCLE_DISCOUNT_PERCENT, CYCLE_MONTHS, type CycleMonths, LIMITS } from '../spec/limits.ts';
import { DEPLOY_PASSWORD_PATH, DEPLOY_PATH, DEPLOY_TOTAL_PATH, PANEL_PATHS } from '../spec/paths.ts';
import type { Image } from '../spec/schemas/image.ts';
import type { Plan } from '../spec/schemas/plan.ts';
import type { Region } from '../spec/schemas/region.ts';
import type { ListedSshKey } from '../spec/schemas/ssh-key.ts';
import { emptyState, usd } from './components.ts';
import { type DeployQuote, totalBox } from './deploy-total.ts';
import { Fields, type FormContext, form } from './form.ts';
import { Html, html } from './html.ts';
import { imageChoices } from './image-names.ts';
import type { View } from './layout.ts';
import { formatMemory, formatMonths } from './server-format.ts';

export interface DeployData {
  readonly plans: readonly Plan[];
  /** Ids of those that the operator sells to who asks, and nobody can order here. */
  readonly onRequest: ReadonlySet<string>;
  readonly regions: readonly Region[];
  readonly images: readonly Image[];
  readonly keys: readonly ListedSshKey[];
  /** What was typed so far, by field. */
  readonly given: ReadonlyMap<string, string>;
  readonly chosen: { readonly plan: string | null; readonly region: string; readonly months: CycleMonths };
  readonly quote: DeployQuote | null;
  /** What each plan costs a month in the chosen cycle. */
  readonly monthUsd: ReadonlyMap<string, number>;
  /** Why no server can be ordered now. */
  readonly closed: string | null;
  readonly forms: FormContext;
}

export function deployView(data: DeployData): View {
  const { closed, plans } = data;
  const body =
    closed !== null || plans.length === 0
      ? emptyState('No servers can be ordered now.', closed ?? 'Nothing is for sale yet.')
      : deployForm(data);
  return {
    title: 'Deploy a server',
    section: 'servers',
    breadcrumbs: [['Servers', PANEL_PATHS.servers]],
    body,
  };
}

function deployForm(data: DeployData): Html {
  const { forms, given, chosen } = data;
  const fields = new Fields(forms, 'deploy');
  const parts = html`<input type="hidden" name="sent" value="yes">
${choiceGroup(fields, 'plan', 'Plan', planChoices(data, fields))}
<div class="columns"><div>
${choiceGroup(fields, 'region', 'Region', regionChoices(data, fields))}
${choiceGroup(fields, 'billing_months', 'Paid for', cycleChoices(data, fields))}
</div><div>
${fields.select('image', 'Image', { value: given.get('image') ?? '', required: true, choices: [['', 'Choose one'], ...imageChoices(data.images)] })}
${keyChoices(data, fields)}
${fields.text('name', 'Name', {
  value: given.get('name') ?? '',
  required: true,
  maxLength: LIMITS.nameMaxChars,
  autocomplete: 'off',
  hint: 'Lower-case letters, digits and dashes; a letter first.',
})}
</div></div>
${advancedFields(data, fields)}
<div aria-live="polite">${totalBox(data.quote, chosen.region, data)}</div>
<p class="row"><button class="plain" formaction="${DEPLOY_TOTAL_PATH}" formnovalidate>Show total</button> <button>Deploy the server</button></p>
${passwordSection(data, fields)}`;
  return form(forms, { name: 'deploy', action: DEPLOY_PATH, live: '#total, .per-month' }, parts);
}

/** Radios or boxes that belong together, and what is wrong with them. */
function choiceGroup(fields: Fields, field: string, legend: string, choices: Html): Html {
  const problem = fields.problem(field) !== null;
  return html`<fieldset${problem && html` aria-describedby="${fields.id(field)}-problem"`}><legend>${legend}</legend>
${choices}${fields.notes(field)}</fieldset>`;
}

const PLAN_GROUPS = [
  ['vps', 'Virtual servers'],
  ['dedicated', 'Dedicated servers'],
] as const;

function planChoices({ plans, onRequest, regions, chosen, monthUsd }: DeployData, fields: Fields): Html {
  const regionNames = new Map(regions.map(({ id, name }) => [id, name]));
  const card = (plan: Plan) => {
    const isDisabled = plan.available_in.length === 0;
    const emptyNote = onRequest.has(plan.id) ? 'Sold by hand: ask us' : 'Sold out';
    const where = isDisabled
      ? emptyNote
      : plan.available_in.map((id) => regionNames.get(id) ?? id).join(', ');
    const cpus = plan.category === 'vps' ? 'vCPU' : 'cores';
    const label = html`<strong>${plan.id}</strong> <span class="per-month">${usd(monthUsd.get(plan.id) ?? plan.price_usd_month)} a month</span>
<small>${plan.cpu} ${cpus}, ${formatMemory(plan.ram_mb)} memory, ${plan.disk_gb} GiB NVMe, ${plan.transfer_tb} TiB out</small> <small>${where}</small>`;
    return fields.radio('plan', plan.id, label, {
      checked: !isDisabled && plan.id === chosen.plan,
      disabled: isDisabled,
    });
  };
  return html`${PLAN_GROUPS.map(([category, name]) => {
    const cards = plans.filter((plan) => plan.category === category).map(card);
    return cards.length > 0 && html`<p class="soft">${name}</p><div class="choices offers">${cards}</div>\n`;
  })}`;
}

function regionChoices({ regions, chosen }: DeployData, fields: Fields): Html {
  return html`${regions.map((region) => {
    const isLow = region.ipv4_pool_remaining < LIMITS.ipv4PoolWarning;
    const note = region.available ? isLow && ', few addresses left' : ', sold out';
    const label = html`${region.name} <span class="soft">${region.country}${note}</span>`;
    const isDisabled = !region.available;
    return fields.radio('region', region.id, label, {
      checked: !isDisabled && region.id === chosen.region,
      disabled: isDisabled,
    });
  })}`;
}

function cycleChoices({ chosen }: DeployData, fields: Fields): Html {
  return html`${CYCLE_MONTHS.map((months) => {
    const percent = CYCLE_DISCOUNT_PERCENT[months];
    const label = html`${formatMonths(months)}${percent > 0 && html` <span class="soft">${percent} % less</span>`}`;
    return fields.radio('billing_months', String(months), label, { checked: months === chosen.months });
  })}`;
}

function keyChoices({ keys, given }: DeployData, fields: Fields): Html {
  const add = html`<a href="${PANEL_PATHS.keys}">Add a key</a>`;
  // The only one is meant.
  const ticked = (id: string) => (given.has('sent') ? given.has(`ssh_keys.${id}`) : keys.length === 1);
  const boxes = keys.map(
    ({ id, name }) =>
      html`<label class="choice"><input type="checkbox" name="ssh_keys.${id}"${ticked(id) && new Html(' checked')}> <span>${name}</span></label>\n`,
  );
  const emptyNote = html`<p class="soft">You have none yet: ${add}, or give root a password below.</p>`;
  return choiceGroup(
    fields,
    'ssh_keys',
    'SSH keys of root',
    html`${boxes.length > 0 ? html`${boxes}<p class="hint">${add}</p>` : emptyNote}`,
  );
}

function advancedFields({ given, forms }: DeployData, fields: Fields): Html {
  const value = (name: string) => given.get(name) ?? '';
  const used = ['tags', 'labels', 'user_data'].some((name) => value(name) !== '');
  const open = used || forms.problems.some(({ field }) => /^(tags|labels|user_data)/.test(field));
  return html`${fields.checkbox(
    'auto_renew',
    'Renew it when its cycle ends, as long as the balance suffices',
    {
      value: !given.has('sent') || given.has('auto_renew'),
    },
  )}
<details${open && new Html(' open')}><summary>Tags, labels, user data</summary>
${fields.textarea('tags', 'Tags', { value: value('tags'), rows: 3, hint: 'One a line.' })}
${fields.textarea('labels', 'Labels', { value: value('labels'), rows: 3, hint: 'One a line: name=value.' })}
${fields.textarea('user_data', 'User data', {
  value: value('user_data'),
  rows: 8,
  hint: 'For cloud-init, as plain text of at most 64 KiB: a script or #cloud-config. Forgotten once the server runs.',
})}
</details>`;
}

function passwordSection({ keys, forms }: DeployData, fields: Fields): Html {
  const open = keys.length === 0 || forms.problems.some(({ field }) => field === 'root_password');
  return html`<details${open && new Html(' open')}><summary>Use a root password instead of SSH keys</summary>
<p>Keys are safer: a password can be guessed. It is sent to the install and kept nowhere here.</p>
${fields.text('root_password', 'Root password', {
  type: 'password',
  autocomplete: 'new-password',
  hint: 'At least 12 characters.',
})}
<p><button formaction="${DEPLOY_PASSWORD_PATH}">Deploy with this password</button></p></details>`;
}

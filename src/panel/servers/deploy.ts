/** The form to order a server. */
import { CYCLE_DISCOUNT_PERCENT, CYCLE_MONTHS, type CycleMonths, LIMITS } from '../../spec/limits.ts';
import { DEPLOY_PASSWORD_PATH, DEPLOY_PATH, DEPLOY_TOTAL_PATH, PANEL_PATHS } from '../../spec/paths.ts';
import type { FirewallGroup } from '../../spec/schemas/firewall.ts';
import type { Image } from '../../spec/schemas/image.ts';
import type { Plan, Region } from '../../spec/schemas/plan.ts';
import type { Snapshot } from '../../spec/schemas/snapshot.ts';
import type { ListedSshKey } from '../../spec/schemas/ssh-key.ts';
import type { Volume } from '../../spec/schemas/volume.ts';
import { emptyState, usd } from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { Html, html } from '../parts/html.ts';
import { labelsField } from '../parts/label-fields.ts';
import { labelsOf } from '../parts/labels.ts';
import type { View } from '../parts/layout.ts';
import { imageChoices } from '../resources/images.ts';
import { formatDisk, formatTraffic } from '../site/plans.ts';
import { type DeployQuote, totalBox } from './deploy-total.ts';
import { formatMemory, formatMonths } from './format.ts';

export interface DeployData {
  readonly plans: readonly Plan[];
  /** IDs of plans that are sold only on request. */
  readonly onRequest: ReadonlySet<string>;
  readonly regions: readonly Region[];
  readonly images: readonly Image[];
  readonly snapshots: readonly Snapshot[];
  readonly keys: readonly ListedSshKey[];
  readonly groups: readonly FirewallGroup[];
  /** Those that no server has. */
  readonly volumes: readonly Volume[];
  /** The submitted values so far, by field. */
  readonly given: ReadonlyMap<string, string>;
  readonly chosen: { readonly plan: string | null; readonly region: string; readonly months: CycleMonths };
  readonly quote: DeployQuote | null;
  /** The monthly price of each plan in the chosen billing cycle. */
  readonly monthUsd: ReadonlyMap<string, number>;
  /** Why ordering is closed, or null. */
  readonly closed: string | null;
  readonly forms: FormContext;
}

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
  const { forms, given, chosen } = data;
  const fields = new Fields(forms, 'deploy');
  const parts = html`<input type="hidden" name="sent" value="yes">
${choiceGroup(fields, 'plan', 'Plan', planChoices(data, fields))}
<div class="columns"><div>
${choiceGroup(fields, 'region', 'Region', regionChoices(data, fields))}
${choiceGroup(fields, 'billing_months', 'Billing cycle', cycleChoices(data, fields))}
</div><div>
${fields.select('image', 'Image', {
  value: given.get('image') ?? '',
  required: true,
  choices: [['', 'Choose an image'], ...imageChoices(data.images), ...snapshotChoices(data)],
})}
${keyChoices(data, fields)}
${groupChoices(data, fields)}
${volumeChoices(data, fields)}
${fields.text('name', 'Name', {
  value: given.get('name') ?? '',
  required: true,
  maxLength: LIMITS.nameMaxChars,
  autocomplete: 'off',
  hint: 'Lowercase letters, digits, and dashes, starting with a letter.',
})}
</div></div>
${advancedFields(data, fields)}
<div aria-live="polite">${totalBox(data.quote, chosen.region, data)}</div>
<p class="row"><button class="plain" formaction="${DEPLOY_TOTAL_PATH}" formnovalidate>Update total</button>
<button>Deploy server</button></p>
${passwordSection(data, fields)}`;
  return form(forms, { name: 'deploy', action: DEPLOY_PATH, live: '#total, .per-month' }, parts);
}

/** The newest snapshots, and the older snapshot that the page was opened with. */
function snapshotChoices({ snapshots, given }: DeployData): (readonly [value: string, name: string])[] {
  const label = labelsOf(snapshots);
  const choices = snapshots.map((each) => [each.id, `Snapshot: ${label(each)}`] as const);
  const chosen = given.get('image') ?? '';
  const isOlder = chosen.startsWith('snap_') && snapshots.every(({ id }) => id !== chosen);
  return isOlder ? [...choices, [chosen, `Snapshot: ${chosen}`]] : choices;
}

/** Returns a group of radio buttons or checkboxes with its error. */
function choiceGroup(fields: Fields, field: string, legend: string, choices: Html): Html {
  const problem = fields.problem(field) !== null;
  const described = problem && html` aria-describedby="${fields.id(field)}-problem"`;
  return html`<fieldset${described}><legend>${legend}</legend>
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
    const emptyNote = onRequest.has(plan.id) ? 'On request: contact us' : 'Sold out';
    const where = isDisabled
      ? emptyNote
      : plan.available_in.map((id) => regionNames.get(id) ?? id).join(', ');
    const cpus = plan.category === 'vps' ? 'vCPU' : 'cores';
    const price = usd(monthUsd.get(plan.id) ?? plan.price_usd_month);
    const specs = [
      `${plan.cpu} ${cpus}`,
      `${formatMemory(plan.ram_mb)} memory`,
      `${formatDisk(plan)} NVMe`,
      `${formatTraffic(plan)} outbound per month`,
    ].join(', ');
    const term = chosen.months > 1 && `, paid for ${formatMonths(chosen.months)}`;
    const label = html`<strong>${plan.id}</strong> <span class="per-month">${price} per month${term}</span>
<small>${specs}</small> <small>${where}</small>`;
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
    const note = region.available ? isLow && ', few IPv4 addresses left' : ', sold out';
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
    const discount = percent > 0 && html` <span class="soft">${percent}% off</span>`;
    const label = html`${formatMonths(months)}${discount}`;
    return fields.radio('billing_months', String(months), label, { checked: months === chosen.months });
  })}`;
}

function keyChoices({ keys, given }: DeployData, fields: Fields): Html {
  const add = html`<a href="${PANEL_PATHS.keys}">Add an SSH key</a>`;
  // Preselect the only key.
  const ticked = (id: string) => (given.has('sent') ? given.has(`ssh_keys.${id}`) : keys.length === 1);
  const label = labelsOf(keys);
  const checked = new Set(keys.filter(({ id }) => ticked(id)).map(({ id }) => `ssh_keys.${id}`));
  const boxes = keys.map(({ id, name }) => checkbox(`ssh_keys.${id}`, label({ id, name }), checked));
  const emptyNote = html`<p class="soft">You have no SSH keys yet. ${add}, or set a root password below.</p>`;
  return choiceGroup(
    fields,
    'ssh_keys',
    'SSH keys',
    html`${boxes.length > 0 ? html`${boxes}<p class="hint">${add}</p>` : emptyNote}`,
  );
}

function groupChoices({ groups, given }: DeployData, fields: Fields): Html | false {
  if (groups.length === 0) return false;
  const label = labelsOf(groups);
  const boxes = groups.map((group) => checkbox(`firewall_groups.${group.id}`, label(group), given));
  return choiceGroup(fields, 'firewall_groups', 'Firewall groups', html`${boxes}`);
}

function volumeChoices({ volumes, given }: DeployData, fields: Fields): Html | false {
  if (volumes.length === 0) return false;
  const label = labelsOf(volumes);
  const boxes = volumes.map((each) => {
    const text = `${label(each)}, ${formatDisk({ disk_gb: each.size_gb })} in ${each.region}`;
    return checkbox(`volumes.${each.id}`, text, given);
  });
  return choiceGroup(fields, 'volumes', 'Volumes to attach', html`${boxes}`);
}

function checkbox(name: string, text: string, ticked: { has(name: string): boolean }): Html {
  const input = html`<input type="checkbox" name="${name}"${ticked.has(name) && new Html(' checked')}>`;
  return html`<label class="choice">${input} <span>${text}</span></label>\n`;
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

function passwordSection({ keys, forms }: DeployData, fields: Fields): Html {
  const open = keys.length === 0 || forms.problems.some(({ field }) => field === 'root_password');
  return html`<details${open && new Html(' open')}><summary>Use a root password instead of SSH keys</summary>
<p>SSH keys are safer: a password can be guessed. We pass the password to the installer and don’t keep it.</p>
${fields.text('root_password', 'Root password', {
  type: 'password',
  autocomplete: 'new-password',
  hint: 'At least 12 characters.',
})}
<p><button formaction="${DEPLOY_PASSWORD_PATH}">Deploy with this password</button></p></details>`;
}

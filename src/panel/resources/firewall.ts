/** Firewall groups: the list with a form to create one, and the settings of one group. */
import { LIMITS } from '../../spec/limits.ts';
import { PANEL_PATHS, resourcePath } from '../../spec/paths.ts';
import type { AuditEvent } from '../../spec/schemas/audit-event.ts';
import { FIREWALL_DEFAULTS, type FirewallGroup } from '../../spec/schemas/firewall.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { latestChanges } from '../account/audit-log.ts';
import { collapsibleForm, listFilterForm } from '../parts/compact-forms.ts';
import {
  day,
  detailList,
  emptyState,
  pager,
  section,
  sectionLink,
  table,
  tabs,
} from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { formatCount } from '../parts/format.ts';
import { Html, type HtmlValue, html } from '../parts/html.ts';
import { labelsOf } from '../parts/labels.ts';
import type { View } from '../parts/layout.ts';
import { isStale, RULE_WORDS } from './firewall-rows.ts';
import { serverLink } from './server-choice.ts';

const DEFAULT_ACTION_LABELS = { drop: 'Drop (recommended)', accept: RULE_WORDS.action.accept } as const;

export function groupsView(data: {
  readonly groups: readonly FirewallGroup[];
  readonly filter: Readonly<Record<string, string>>;
  readonly next: string | null;
  readonly first: string | null;
  readonly forms: FormContext;
}): View {
  const filtered = Object.keys(data.filter).length > 0;
  const label = labelsOf(data.groups);
  const rows = data.groups.map((group) => [
    html`<a href="${resourcePath(PANEL_PATHS.firewall, group.id)}">${label(group)}</a>`,
    group.rules.length,
    group.applied_to.length,
    RULE_WORDS.action[group.default_action],
    day(group.created_at),
  ]);
  const number = 'number' as const;
  const columns = [
    'Name',
    { name: 'Rules', class: number },
    { name: 'Servers', class: number },
    'Default inbound policy',
    'Created',
  ];
  const list = () => {
    if (rows.length > 0) return table({ caption: 'Firewall groups', columns, rows });
    return filtered
      ? emptyState('No matching groups.', html`<a href="${PANEL_PATHS.firewall}">Clear filters</a>`)
      : emptyState(
          'No firewall groups yet.',
          'A server without a group has all ports open. Create a group below, add rules, and apply it.',
          sectionLink('Create firewall group'),
        );
  };
  return {
    title: 'Firewall',
    section: 'firewall',
    header: { actions: sectionLink('Create firewall group') },
    body: html`${
      (filtered || rows.length > 0) &&
      listFilterForm(PANEL_PATHS.firewall, data.filter, (fields) =>
        fields.text('name', 'Name', { type: 'search', value: data.filter.name ?? '', size: 18 }),
      )
    }
${list()}
${pager(data)}
${section('Create firewall group', createForm(data.forms))}`,
  };
}

function createForm(forms: FormContext): Html {
  const fields = new Fields(forms, 'create');
  return form(
    forms,
    { name: 'create' },
    html`<p>Firewall groups are free.</p>
${nameAndDefault(fields, { name: '', default_action: 'drop' })}
<button>Create firewall group</button>`,
  );
}

function nameAndDefault(fields: Fields, group: Pick<FirewallGroup, 'name' | 'default_action'>): Html {
  const { nameMaxChars } = LIMITS;
  return html`${fields.text('name', 'Name', {
    value: group.name,
    required: true,
    maxLength: nameMaxChars,
    autocomplete: 'off',
  })}
${fields.select('default_action', 'Default inbound policy', {
  value: group.default_action,
  choices: FIREWALL_DEFAULTS.map((word) => [word, DEFAULT_ACTION_LABELS[word]]),
  hint: 'Outbound traffic is allowed unless an applied group has outbound rules; then this applies too.',
})}`;
}

interface GroupData {
  readonly group: FirewallGroup;
  readonly servers: readonly Server[];
  /** Region names by code. */
  readonly regions: Readonly<Record<string, string>>;
  /** Identifies the servers that the group applies to now, to detect concurrent changes. */
  readonly seen: string;
  /** The latest changes and attempts. */
  readonly changes: readonly AuditEvent[];
  readonly forms: FormContext;
}

/** The pages of one group. */
const GROUP_PAGES = { rules: ['Rules', ''], settings: ['Servers and settings', '/settings'] } as const;
type GroupPage = keyof typeof GROUP_PAGES;

export function groupPagePath(id: string, page: GroupPage): string {
  return `${resourcePath(PANEL_PATHS.firewall, id)}${GROUP_PAGES[page][1]}`;
}

export function groupTabs({ id }: FirewallGroup, here: GroupPage): Html {
  const pages = Object.keys(GROUP_PAGES) as GroupPage[];
  const links = pages.map((page) => [GROUP_PAGES[page][0], groupPagePath(id, page)] as const);
  return tabs('Firewall group pages', links, groupPagePath(id, here));
}

export function groupSettingsView(data: GroupData): View {
  const { group, servers, forms } = data;
  return {
    title: `${group.name}: servers and settings`,
    section: 'firewall',
    breadcrumbs: [
      ['Firewall', PANEL_PATHS.firewall],
      [group.name, groupPagePath(group.id, 'rules')],
    ],
    pageName: GROUP_PAGES.settings[0],
    header: { heading: group.name, facts: groupFacts(group) },
    body: html`${groupTabs(group, 'settings')}
${detailList([
  ['Applied to', appliedServers(group, servers)],
  ['Default inbound policy', RULE_WORDS.action[group.default_action]],
  ['Created', day(group.created_at)],
  ['ID', html`<code>${group.id}</code>`],
])}
${section('Servers', applyForm(data))}
${section('Name and default inbound policy', changeForm(data))}
${section('Activity', latestChanges(group.id, 'group', data.changes))}
${section('Delete', deleteSection(group, forms))}`,
  };
}

export function groupFacts({
  rules,
  applied_to: servers,
  default_action: policy,
}: FirewallGroup): HtmlValue[] {
  const inbound = policy === 'drop' ? 'Drops other inbound traffic' : 'Allows other inbound traffic';
  return [formatCount(rules.length, 'rule'), formatCount(servers.length, 'server'), inbound];
}

function appliedServers(group: FirewallGroup, servers: readonly Server[]): Html {
  if (group.applied_to.length === 0) return html`No servers`;
  return html`${group.applied_to.map((id, index) => html`${index > 0 && ', '}${serverLink(id, servers)}`)}`;
}

function changeForm({ group, forms }: GroupData): Html {
  const fields = new Fields(forms, 'change');
  return form(
    forms,
    { name: 'change' },
    html`${nameAndDefault(fields, group)}\n<button class="plain">Save changes</button>`,
  );
}

function applyForm({ group, servers, regions, seen, forms }: GroupData): Html {
  const fields = new Fields(isStale(forms) ? { ...forms, refused: null } : forms, 'apply');
  // A server that was not loaded stays applied until its box is cleared.
  const others = group.applied_to.filter((id) => !servers.some((server) => server.id === id));
  const rows = [...servers, ...others.map((id) => ({ id, name: id, region: '' }))];
  if (rows.length === 0) return html`<p class="hint">You have no servers yet.</p>`;
  const problem = appliedProblem(forms);
  const label = labelsOf(rows);
  const boxes = rows.map((row) => {
    const { id, region } = row;
    const ticked = fields.isChecked(`applied_to.${id}`, group.applied_to.includes(id));
    const checked = ticked && new Html(' checked');
    const input = html`<input type="checkbox" name="applied_to.${id}"${checked}>`;
    const location = region !== '' && html` <span class="soft">${regions[region] ?? region}</span>`;
    const error = problem?.id === id && html`<span class="problem">${problem.message}</span>`;
    return html`<label class="choice">${input} <span>${label(row)}${location}${error}</span></label>\n`;
  });
  return form(
    forms,
    { name: 'apply' },
    html`<input type="hidden" name="seen" value="${fields.value('seen', seen)}">
<fieldset><legend>Apply to servers</legend>
${problem?.id === null && html`<p class="problem">${problem.message}</p>`}
<div class="choices">${boxes}</div></fieldset>
<button class="plain">Save selection</button>`,
  );
}

/** Returns the error on one of the boxes; a null id means all of them. The index counts only ticked boxes. */
function appliedProblem(forms: FormContext): { readonly id: string | null; readonly message: string } | null {
  if (forms.refused?.name !== 'apply') return null;
  const found = forms.problems.find(({ field }) => /^applied_to(?:\.|$)/.test(field));
  if (!found) return null;
  const ticked = [...forms.values.keys()].filter((name) => name.startsWith('applied_to.'));
  const name = ticked[Number(found.field.split('.')[1] ?? -1)];
  return { id: name?.slice('applied_to.'.length) ?? null, message: found.message };
}

function deleteSection(group: FirewallGroup, forms: FormContext): Html {
  if (group.applied_to.length > 0)
    return html`<p>This group applies to servers. Clear all servers above and save the selection before
you delete it.</p>`;
  return collapsibleForm(forms, 'delete', {
    summary: 'Delete this group',
    description: 'This permanently deletes the group and its rules. No servers are affected.',
    content: html`<button class="danger">Delete firewall group</button>`,
  });
}

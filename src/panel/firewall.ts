/** The list of firewall groups, with a form to make one, and the page of one. */
import { LIMITS } from '../spec/limits.ts';
import { PANEL_PATHS, resourcePath } from '../spec/paths.ts';
import {
  FIREWALL_DEFAULTS,
  type FirewallGroup,
  type FirewallRule,
  RULE_ACTIONS,
  RULE_DIRECTIONS,
  RULE_PROTOS,
} from '../spec/schemas/firewall.ts';
import type { Server } from '../spec/schemas/server.ts';
import { collapsibleForm } from './collapsible-form.ts';
import { day, detailList, emptyState, pager, section, table } from './components.ts';
import { isStale } from './firewall-rows.ts';
import { Fields, type FormContext, form } from './form.ts';
import { Html, html } from './html.ts';
import type { View } from './layout.ts';
import { listFilterForm } from './list-filter-form.ts';
import { serverLink } from './server-choice.ts';

const DEFAULT_ACTION_LABELS = { drop: 'drop it (recommended)', accept: 'accept it' } as const;

export function groupsView(data: {
  readonly groups: readonly FirewallGroup[];
  readonly filter: Readonly<Record<string, string>>;
  readonly next: string | null;
  readonly first: string | null;
  readonly forms: FormContext;
}): View {
  const filtered = Object.keys(data.filter).length > 0;
  const rows = data.groups.map((group) => [
    html`<a href="${resourcePath(PANEL_PATHS.firewall, group.id)}">${group.name}</a>`,
    group.rules.length,
    group.applied_to.length,
    group.default_action,
    day(group.created_at),
  ]);
  const number = 'number' as const;
  const columns = [
    'Name',
    { name: 'Rules', class: number },
    { name: 'Servers', class: number },
    'Otherwise',
    'Created',
  ];
  const list = () => {
    if (rows.length > 0) return table({ caption: 'Firewall groups', columns, rows });
    return filtered
      ? emptyState(
          'No group is called like that.',
          html`<a href="${PANEL_PATHS.firewall}">Show all groups</a>`,
        )
      : emptyState(
          'No firewall groups yet.',
          'A server without a group is open to everything. Make a group below, give it rules and apply it.',
        );
  };
  return {
    title: 'Firewall',
    section: 'firewall',
    body: html`${(filtered || rows.length > 0) && listFilterForm(PANEL_PATHS.firewall, data.filter, (fields) => fields.text('name', 'Name', { type: 'search', value: data.filter.name ?? '', size: 18 }))}
${list()}
${pager(data)}
${section('Create a group', createForm(data.forms))}`,
  };
}

function createForm(forms: FormContext): Html {
  const fields = new Fields(forms, 'create');
  return form(
    forms,
    { name: 'create' },
    html`${nameAndDefault(fields, { name: '', default_action: 'drop' })}
<button>Create the group</button>`,
  );
}

function nameAndDefault(fields: Fields, group: Pick<FirewallGroup, 'name' | 'default_action'>): Html {
  const { nameMaxChars } = LIMITS;
  return html`${fields.text('name', 'Name', { value: group.name, required: true, maxLength: nameMaxChars, autocomplete: 'off' })}
${fields.select('default_action', 'What comes in and no rule matches', {
  value: group.default_action,
  choices: FIREWALL_DEFAULTS.map((word) => [word, DEFAULT_ACTION_LABELS[word]]),
  hint: 'The same holds for what goes out once an applied group has a rule for that; until then all may go out.',
})}`;
}

interface GroupData {
  readonly group: FirewallGroup;
  readonly servers: readonly Server[];
  /** Stands for the servers that the group is applied to now. */
  readonly seen: string;
  readonly forms: FormContext;
}

export function groupView(data: GroupData): View {
  const { group, servers, forms } = data;
  return {
    title: group.name,
    section: 'firewall',
    breadcrumbs: [['Firewall', PANEL_PATHS.firewall]],
    body: html`${detailList([
      ['Applied to', appliedServers(group, servers)],
      ['What comes in and no rule matches', group.default_action === 'drop' ? 'is dropped' : 'is accepted'],
      ['Created', day(group.created_at)],
      ['Id', html`<code>${group.id}</code>`],
    ])}
${section('Rules', rulesSection(group, forms))}
${section('Servers', applyForm(data))}
${section('Name and default', changeForm(data))}
${section('Delete', deleteSection(group, forms))}`,
  };
}

function appliedServers(group: FirewallGroup, servers: readonly Server[]): Html {
  if (group.applied_to.length === 0) return html`no server yet`;
  return html`${group.applied_to.map((id, index) => html`${index > 0 && ', '}${serverLink(id, servers)}`)}`;
}

function rulesSection(group: FirewallGroup, forms: FormContext): Html {
  const { rules } = group;
  const rows = rules.map((rule, index) => [
    index + 1,
    rule.direction,
    rule.proto,
    rule.port ?? 'all',
    html`<code>${rule.source}</code>`,
    rule.action,
    rule.note,
  ]);
  const columns = ['#', 'Direction', 'Protocol', 'Ports', 'Peer', 'Action', 'Note'];
  const editor = `${resourcePath(PANEL_PATHS.firewall, group.id)}/rules`;
  return html`<p>Rules are tried in their order, and the first that matches wins. Answers within a connection that was let through pass
by themselves. The filter stands outside the server, which cannot change it.</p>
${rules.length > 0 ? table({ caption: 'Rules, in their order', columns, rows }) : html`<p>There are no rules yet.</p>`}
${blocksAllInbound(group) && html`<p class="hint">As it stands, a server with this group cannot be reached: no rule accepts what comes in.</p>`}
<p><a class="button" href="${editor}">Edit the rules</a></p>
${addForm(forms, rules.length === 0)}
${rules.length > 0 && removeForm(rules, forms)}`;
}

function blocksAllInbound({ rules, default_action: byDefault }: FirewallGroup): boolean {
  return (
    byDefault === 'drop' && !rules.some(({ direction, action }) => direction === 'in' && action === 'accept')
  );
}

function addForm(forms: FormContext, open: boolean): Html {
  const fields = new Fields(forms, 'add');
  const choices = (words: readonly string[]) => words.map((word) => [word, word] as const);
  const content = html`<div class="columns"><div>${fields.select('direction', 'Direction', { choices: choices(RULE_DIRECTIONS) })}
${fields.select('proto', 'Protocol', { choices: choices(RULE_PROTOS) })}
${fields.text('port', 'Ports', {
  maxLength: LIMITS.rulePortMaxChars,
  autocomplete: 'off',
  hint: 'One, some with commas, or a range: 443, 80,443, 8000-8999. Empty: all. Only TCP and UDP have ports.',
})}</div>
<div>${fields.text('source', 'Peer', {
    required: true,
    autocomplete: 'off',
    hint: 'The other side as CIDR: 203.0.113.0/24, 203.0.113.7/32, 0.0.0.0/0 for all of IPv4, ::/0 for all of IPv6.',
  })}
${fields.select('action', 'Action', { choices: choices(RULE_ACTIONS), hint: 'Reject tells the other side; drop says nothing.' })}
${fields.text('note', 'Note', { maxLength: LIMITS.ruleNoteMaxChars, autocomplete: 'off' })}</div></div>
<button>Add the rule</button>`;
  return collapsibleForm(forms, 'add', { summary: 'Add a rule at the end', content, open });
}

function removeForm(rules: readonly FirewallRule[], forms: FormContext): Html {
  const fields = new Fields(forms, 'remove');
  const choices = rules.map(({ id, direction, proto, port, source, action }, index) => {
    const ruleText = `${direction} ${proto}${port === null ? '' : ` ${port}`} ${source} ${action}`;
    return [id, `${index + 1}: ${ruleText}`] as const;
  });
  return collapsibleForm(forms, 'remove', {
    summary: 'Remove a rule',
    content: html`${fields.select('rule', 'Rule', { choices })}
<button class="danger">Remove the rule</button>`,
  });
}

function changeForm({ group, forms }: GroupData): Html {
  const fields = new Fields(forms, 'change');
  return form(
    forms,
    { name: 'change' },
    html`${nameAndDefault(fields, group)}\n<button class="plain">Save</button>`,
  );
}

function applyForm({ group, servers, seen, forms }: GroupData): Html {
  const fields = new Fields(isStale(forms) ? { ...forms, refused: null } : forms, 'apply');
  // One that is not among those that were read stays applied until its box is emptied.
  const others = group.applied_to.filter((id) => !servers.some((server) => server.id === id));
  const rows = [...servers, ...others.map((id) => ({ id, name: id, region: '' }))];
  if (rows.length === 0) return html`<p class="hint">You have no servers yet.</p>`;
  const problem = appliedProblem(forms);
  const boxes = rows.map(({ id, name, region }) => {
    const ticked = fields.isChecked(`applied_to.${id}`, group.applied_to.includes(id));
    return html`<label class="choice"><input type="checkbox" name="applied_to.${id}"${ticked && new Html(' checked')}> <span>${name}${region !== '' && html` <span class="soft">${region}</span>`}${problem?.id === id && html`<span class="problem">${problem.message}</span>`}</span></label>\n`;
  });
  return form(
    forms,
    { name: 'apply' },
    html`<input type="hidden" name="seen" value="${fields.value('seen', seen)}">
<fieldset><legend>Servers that have the group</legend>
${problem?.id === null && html`<p class="problem">${problem.message}</p>`}
<div class="choices">${boxes}</div></fieldset>
<button class="plain">Save the servers</button>`,
  );
}

/** What is wrong with one of the boxes: a refusal counts those that were ticked. Id null: with all of them. */
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
    return html`<p>The group is applied to servers. Empty their boxes above and save them; then it can be deleted.</p>`;
  return collapsibleForm(forms, 'delete', {
    summary: 'Delete this group',
    words: 'Its rules are gone for ever. No server is touched, for it is applied to none.',
    content: html`<button class="danger">Delete the group</button>`,
  });
}

/** Firewall group pages. */
import { getGroup, listGroups, rulesEtag, serversEtag } from '../../../domain/firewall/read.ts';
import type { FormContext } from '../../../panel/parts/form.ts';
import { groupPagePath, groupSettingsView, groupsView } from '../../../panel/resources/firewall.ts';
import { editorView } from '../../../panel/resources/firewall-editor.ts';
import {
  isEmptyRow,
  isStale,
  type RuleRow,
  rearrangeRows,
  rowsFromForm,
  rowsFromRules,
  withNewRows,
} from '../../../panel/resources/firewall-rows.ts';
import { PANEL_PATHS } from '../../../spec/paths.ts';
import type { FirewallGroup, FirewallRuleBody } from '../../../spec/schemas/firewall.ts';
import { type Form, field } from '../../form.ts';
import { readLatestChanges } from '../account/audit-log.ts';
import { listAllRegions, listOwnServers } from '../choices.ts';
import { bodyReader, checkedIds, text, untrimmedText } from '../field-readers.ts';
import { readList } from '../list.ts';
import { type FormResult, type PageContext, type PanelPage, page, restForm } from '../page-types.ts';
import { checkPacket } from './firewall-check.ts';

/**
 * Both lists of a group are replaced as a whole, so each form names the version that it was rendered from.
 */
const seenVersion = (form: Form): object => ({ seen: field(form, 'seen') });

export const FIREWALL_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.firewall,
    access: 'customer',
    readOperations: ['firewall_groups.list'],
    render: showGroups,
    forms: {
      create: restForm<FirewallGroup>({
        operation: 'firewall_groups.create',
        body: bodyReader({ name: untrimmedText, default_action: text }),
        done: ({ id }) => ({ to: groupPagePath(id, 'rules'), notice: 'group_created' }),
      }),
    },
  },
  page({
    path: `${PANEL_PATHS.firewall}/{id}`,
    access: 'customer',
    readOperations: ['firewall_groups.get'],
    render: showEditor,
    forms: {
      rules: restForm<FirewallGroup>({
        operation: 'firewall_rules.replace',
        redraw: redrawRows,
        query: seenVersion,
        body: (form) => ({ rules: ruleBodies(rowsFromForm(form)) }),
        done: ({ id }) => ({ to: groupPagePath(id, 'rules'), notice: 'rules_saved' }),
      }),
    },
  }),
  page({
    path: `${PANEL_PATHS.firewall}/{id}/settings`,
    access: 'customer',
    readOperations: ['audit_events.list'],
    render: showSettings,
    forms: {
      change: restForm<FirewallGroup>({
        operation: 'firewall_groups.update',
        body: bodyReader({ name: untrimmedText, default_action: text }),
        done: ({ id }) => ({ to: groupPagePath(id, 'settings'), notice: 'saved' }),
      }),
      apply: restForm<FirewallGroup>({
        operation: 'firewall_groups.update',
        body: bodyReader({ applied_to: checkedIds }),
        query: seenVersion,
        done: ({ id }) => ({ to: groupPagePath(id, 'settings'), notice: 'saved' }),
      }),
      delete: restForm({
        operation: 'firewall_groups.delete',
        done: () => ({ to: PANEL_PATHS.firewall, notice: 'group_deleted' }),
      }),
    },
  }),
];

async function showGroups(context: PageContext) {
  const list = await readList(context, 'firewall_groups.list', (page) =>
    listGroups(context.service, context.customer(), page),
  );
  const { items: groups, ...rest } = list;
  return groupsView({ groups, ...rest, forms: context.forms });
}

async function showSettings(context: PageContext<{ readonly id: string }>) {
  const [group, servers, regions, changes] = await Promise.all([
    getGroup(context.service, context.customer(), context.params.id),
    listOwnServers(context),
    listAllRegions(context),
    readLatestChanges(context, context.params.id),
  ]);
  return groupSettingsView({
    ...{ group, servers, changes },
    regions: Object.fromEntries(regions.map(({ id, name }) => [id, name])),
    seen: serversEtag(group),
    forms: context.forms,
  });
}

async function showEditor(context: PageContext<{ readonly id: string }>) {
  const group = await getGroup(context.service, context.customer(), context.params.id);
  const { rows, seen, sent } = displayedRows(context, group);
  const bodies = ruleBodies(rows);
  const { check, ruleProblems } = checkPacket(context.service, group, bodies, sent);
  const saved = ruleBodies(rowsFromRules(group.rules));
  return editorView({
    ...{ group, rows, seen, check },
    unsaved: JSON.stringify(bodies) !== JSON.stringify(saved),
    forms: ruleProblems.length > 0 ? withRuleProblems(context.forms, ruleProblems) : context.forms,
  });
}

function withRuleProblems(forms: FormContext, problems: FormContext['problems']): FormContext {
  return { ...forms, refused: { name: 'rules', key: '' }, problems };
}

/**
 * Returns the rearranged, rejected, or stored rows, the version of the rules that they are based on, and the
 * fields that were sent.
 */
function displayedRows({ shown, forms }: PageContext, group: FirewallGroup) {
  const sent: Form = shown ? new Map(Object.entries(shown.texts)) : forms.values;
  if (shown) return { rows: rearrangedRows(sent), seen: field(sent, 'seen'), sent };
  if (forms.refused && !isStale(forms)) return { rows: rowsFromForm(sent), seen: field(sent, 'seen'), sent };
  return { rows: rowsFromRules(group.rules), seen: rulesEtag(group), sent };
}

/** Handles every button except Save: the page is shown again with the form, and nothing is stored. */
function redrawRows(form: Form): FormResult | null {
  return field(form, 'go') === ''
    ? null
    : { shown: Object.fromEntries([...form].filter(([name]) => !name.startsWith('_'))) };
}

function rearrangedRows(form: Form): readonly RuleRow[] {
  const ends = { from: field(form, 'from'), to: field(form, 'to') };
  return rearrangeRows(withNewRows(rowsFromForm(form)), field(form, 'go'), ends);
}

/** Omits an empty source, so that it is reported as required. Ports and descriptions are optional. */
function ruleBodies(rows: readonly RuleRow[]): readonly FirewallRuleBody[] {
  const filled = rows.filter((row) => !isEmptyRow(row));
  return filled.map(
    ({ direction, proto, port, source, action, note }) =>
      ({
        direction,
        proto,
        action,
        port: port === '' ? null : port,
        note: note === '' ? null : note,
        ...(source === '' ? {} : { source }),
      }) as FirewallRuleBody,
  );
}

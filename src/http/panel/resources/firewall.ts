/** Firewall group pages. */

import { getGroup, listGroups, rulesEtag, serversEtag } from '../../../domain/firewall/read.ts';
import { groupsView, groupView } from '../../../panel/resources/firewall.ts';
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
import { PANEL_PATHS, resourcePath } from '../../../spec/paths.ts';
import type { FirewallGroup } from '../../../spec/schemas/firewall.ts';
import { type Form, field } from '../../form.ts';
import { listOwnServers } from '../choices.ts';
import { bodyReader, checkedIds, text, textOrNull, untrimmedText } from '../field-readers.ts';
import { readList } from '../list.ts';
import { type FormResult, type PageContext, type PanelPage, page, restForm } from '../page-types.ts';

/**
 * Both lists of a group are replaced as a whole, so each form names the version that it was rendered from.
 */
const seenVersion = (form: Form): object => ({ seen: field(form, 'seen') });

const groupPath = (id: string): string => resourcePath(PANEL_PATHS.firewall, id);

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
        done: ({ id }) => ({ to: groupPath(id), notice: 'group_created' }),
      }),
    },
  },
  page({
    path: `${PANEL_PATHS.firewall}/{id}`,
    access: 'customer',
    readOperations: ['firewall_groups.get'],
    render: showGroup,
    forms: {
      change: restForm<FirewallGroup>({
        operation: 'firewall_groups.update',
        body: bodyReader({ name: untrimmedText, default_action: text }),
        done: ({ id }) => ({ to: groupPath(id), notice: 'saved' }),
      }),
      apply: restForm<FirewallGroup>({
        operation: 'firewall_groups.update',
        body: bodyReader({ applied_to: checkedIds }),
        query: seenVersion,
        done: ({ id }) => ({ to: groupPath(id), notice: 'saved' }),
      }),
      add: restForm({
        operation: 'firewall_rules.create',
        body: bodyReader({
          direction: text,
          proto: text,
          port: textOrNull,
          source: text,
          action: text,
          note: textOrNull,
        }),
        done: (_rule, { params }) => ({ to: `${groupPath(params.id)}#rules`, notice: 'rule_added' }),
      }),
      remove: restForm({
        operation: 'firewall_rules.delete',
        params: (form, { id }) => ({ id, rule_id: field(form, 'rule') }),
        done: (_none, { params }) => ({ to: `${groupPath(params.id)}#rules`, notice: 'rule_removed' }),
      }),
      delete: restForm({
        operation: 'firewall_groups.delete',
        done: () => ({ to: PANEL_PATHS.firewall, notice: 'group_deleted' }),
      }),
    },
  }),
  page({
    path: `${PANEL_PATHS.firewall}/{id}/rules`,
    access: 'customer',
    render: showEditor,
    forms: {
      rules: restForm<FirewallGroup>({
        operation: 'firewall_rules.replace',
        redraw: redrawRows,
        query: seenVersion,
        body: (form) => ({
          rules: rowsFromForm(form)
            .filter((row) => !isEmptyRow(row))
            .map(ruleBody),
        }),
        done: ({ id }) => ({ to: `${groupPath(id)}#rules`, notice: 'rules_saved' }),
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

async function showGroup(context: PageContext<{ readonly id: string }>) {
  const [group, servers] = await Promise.all([
    getGroup(context.service, context.customer(), context.params.id),
    listOwnServers(context),
  ]);
  return groupView({ group, servers, seen: serversEtag(group), forms: context.forms });
}

async function showEditor(context: PageContext<{ readonly id: string }>) {
  const group = await getGroup(context.service, context.customer(), context.params.id);
  return editorView({ group, ...displayedRows(context, group), forms: context.forms });
}

/** Returns the rearranged, rejected, or stored rows, and the version of the rules that they are based on. */
function displayedRows({ shown, forms }: PageContext, group: FirewallGroup) {
  if (shown) {
    const { rows = '[]', seen: version = '' } = shown.texts;
    return { rows: JSON.parse(rows) as readonly RuleRow[], seen: version };
  }
  if (forms.refused && !isStale(forms))
    return { rows: rowsFromForm(forms.values), seen: field(forms.values, 'seen') };
  return { rows: rowsFromRules(group.rules), seen: rulesEtag(group) };
}

/** Handles every button except Save: rows move on the page and nothing is stored. */
function redrawRows(form: Form): FormResult | null {
  const button = field(form, 'go');
  if (button === '') return null;
  const ends = { from: field(form, 'from'), to: field(form, 'to') };
  const rows = JSON.stringify(rearrangeRows(withNewRows(rowsFromForm(form)), button, ends));
  return { shown: { rows, seen: field(form, 'seen') } };
}

/** Omits an empty source, so that it is reported as required. Ports and notes are optional. */
function ruleBody({ direction, proto, port, source, action, note }: RuleRow): object {
  return {
    direction,
    proto,
    action,
    port: port === '' ? null : port,
    note: note === '' ? null : note,
    ...(source === '' ? {} : { source }),
  };
}

/** Firewall groups in the panel. */
import { getGroup, listGroups } from '../../domain/firewall/find.ts';
import { markOfRules, markOfServers } from '../../domain/firewall/seen.ts';
import { groupsView, groupView } from '../../panel/firewall.ts';
import { editorView } from '../../panel/firewall-editor.ts';
import {
  isEmpty,
  isStale,
  rearranged,
  rowsOf,
  type TypedRow,
  typedRows,
  withNewRows,
} from '../../panel/firewall-rows.ts';
import { PANEL_PATHS, thingPath } from '../../spec/paths.ts';
import type { FirewallGroup } from '../../spec/schemas/firewall.ts';
import { type Form, field } from '../form.ts';
import { asTyped, body, text, textOrNull, tickedIds } from './fields.ts';
import { readList } from './list.ts';
import { ownServers } from './own-servers.ts';
import { type Done, type Look, type PanelPage, restForm } from './page.ts';

/** Both lists of a group are replaced as a whole, by forms that say which one they were made of. */
const seen = (form: Form): object => ({ seen: field(form, 'seen') });

const pageOf = (id: string): string => thingPath(PANEL_PATHS.firewall, id);

export const FIREWALL_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.firewall,
    access: 'customer',
    shows: ['firewall_groups.list'],
    show: showGroups,
    forms: {
      create: restForm<FirewallGroup>({
        does: 'firewall_groups.create',
        body: body({ name: asTyped, default_action: text }),
        done: ({ id }) => ({ to: pageOf(id), notice: 'group_created' }),
      }),
    },
  },
  {
    path: `${PANEL_PATHS.firewall}/{id}`,
    access: 'customer',
    shows: ['firewall_groups.get'],
    show: showGroup,
    forms: {
      change: restForm<FirewallGroup>({
        does: 'firewall_groups.update',
        body: body({ name: asTyped, default_action: text }),
        done: ({ id }) => ({ to: pageOf(id), notice: 'saved' }),
      }),
      apply: restForm<FirewallGroup>({
        does: 'firewall_groups.update',
        body: body({ applied_to: tickedIds }),
        query: seen,
        done: ({ id }) => ({ to: pageOf(id), notice: 'saved' }),
      }),
      add: restForm({
        does: 'firewall_rules.create',
        body: body({
          ...{ direction: text, proto: text, port: textOrNull },
          ...{ source: text, action: text, note: textOrNull },
        }),
        done: (_rule, { params }) => ({ to: `${pageOf(params.id ?? '')}#rules`, notice: 'rule_added' }),
      }),
      remove: restForm({
        does: 'firewall_rules.delete',
        params: (form, { id = '' }) => ({ id, rule_id: field(form, 'rule') }),
        done: (_none, { params }) => ({ to: `${pageOf(params.id ?? '')}#rules`, notice: 'rule_removed' }),
      }),
      delete: restForm({
        does: 'firewall_groups.delete',
        done: () => ({ to: PANEL_PATHS.firewall, notice: 'group_deleted' }),
      }),
    },
  },
  {
    path: `${PANEL_PATHS.firewall}/{id}/rules`,
    access: 'customer',
    show: showEditor,
    forms: {
      rules: restForm<FirewallGroup>({
        does: 'firewall_rules.replace',
        redraw: arrange,
        query: seen,
        body: (form) => ({
          rules: typedRows(form)
            .filter((row) => !isEmpty(row))
            .map(ruleBody),
        }),
        done: ({ id }) => ({ to: `${pageOf(id)}#rules`, notice: 'rules_saved' }),
      }),
    },
  },
];

async function showGroups(look: Look) {
  const list = await readList(look, 'firewall_groups.list', (page) =>
    listGroups(look.service, look.customer(), page),
  );
  const { items: groups, ...rest } = list;
  return groupsView({ groups, ...rest, forms: look.forms });
}

async function showGroup(look: Look) {
  const [group, servers] = await Promise.all([
    getGroup(look.service, look.customer(), look.params.id ?? ''),
    ownServers(look),
  ]);
  return groupView({ group, servers, seen: markOfServers(group), forms: look.forms });
}

async function showEditor(look: Look) {
  const group = await getGroup(look.service, look.customer(), look.params.id ?? '');
  return editorView({ group, ...rowsShown(look, group), forms: look.forms });
}

/** As they were put, as they were typed and refused, or as they are; and the mark of the rules that they were made of. */
function rowsShown({ shown, forms }: Look, group: FirewallGroup) {
  if (shown) {
    const { rows = '[]', seen: mark = '' } = shown.texts;
    return { rows: JSON.parse(rows) as readonly TypedRow[], seen: mark };
  }
  if (forms.refused && !isStale(forms))
    return { rows: typedRows(forms.values), seen: field(forms.values, 'seen') };
  return { rows: rowsOf(group.rules), seen: markOfRules(group) };
}

/** Any button but the one that saves: rows change their places on the page, and nowhere else. */
function arrange(form: Form): Done | null {
  const button = field(form, 'go');
  if (button === '') return null;
  const ends = { from: field(form, 'from'), to: field(form, 'to') };
  const rows = JSON.stringify(rearranged(withNewRows(typedRows(form)), button, ends));
  return { shown: { rows, seen: field(form, 'seen') } };
}

/** What is left empty is not sent, so that it is refused as missing; ports and a note may be. */
function ruleBody({ direction, proto, port, source, action, note }: TypedRow): object {
  return {
    ...{ direction, proto, action },
    ...{ port: port === '' ? null : port, note: note === '' ? null : note },
    ...(source === '' ? {} : { source }),
  };
}

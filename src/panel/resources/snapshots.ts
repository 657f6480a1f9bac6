/** Snapshots: the list with a form to create one, and the page of one snapshot. */
import { LIMITS } from '../../spec/limits.ts';
import { deployPath, PANEL_PATHS, resourcePath } from '../../spec/paths.ts';
import type { Action } from '../../spec/schemas/action.ts';
import type { Server } from '../../spec/schemas/server.ts';
import type { Snapshot } from '../../spec/schemas/snapshot.ts';
import { SNAPSHOT_STATUSES, type SnapshotStatus } from '../../spec/states.ts';
import { activityPart, refreshWhileRunning } from '../parts/activity.ts';
import { collapsibleForm, listFilterForm } from '../parts/compact-forms.ts';
import {
  buttonLink,
  day,
  detailList,
  emptyState,
  pager,
  section,
  sectionLink,
  statusBadge,
  table,
  time,
} from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { formatGib } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { formatLabels, labelFilterField, labelLinks, labelsField } from '../parts/label-fields.ts';
import { labelsOf } from '../parts/labels.ts';
import type { View } from '../parts/layout.ts';
import { part } from '../parts/live.ts';
import { protectedNote, protectionSection } from '../parts/protection.ts';
import { isActionAllowed, serverChoices, serverLink } from './server-choice.ts';

const TONES = { creating: 'busy', ready: 'good', error: 'bad' } as const;

function snapshotStatusBadge(status: SnapshotStatus): Html {
  return statusBadge(status === 'error' ? 'failed' : status, TONES[status]);
}

const formatSize = ({ status, size_gb }: Snapshot): string => (status === 'ready' ? formatGib(size_gb) : '–');

export function snapshotsView(data: {
  readonly snapshots: readonly Snapshot[];
  readonly filter: Readonly<Record<string, string>>;
  readonly next: string | null;
  readonly first: string | null;
  readonly servers: readonly Server[];
  readonly forms: FormContext;
}): View {
  const { filter, servers, snapshots } = data;
  const filtered = Object.keys(filter).length > 0;
  const label = labelsOf(snapshots);
  const rows = snapshots.map((snapshot) => [
    html`<a href="${resourcePath(PANEL_PATHS.snapshots, snapshot.id)}">${label(snapshot)}</a>`,
    snapshotStatusBadge(snapshot.status),
    serverLink(snapshot.server, servers),
    formatSize(snapshot),
    snapshot.expires_at === null ? 'Never' : day(snapshot.expires_at),
    day(snapshot.created_at),
  ]);
  const columns = [
    'Name',
    'Status',
    'Server',
    { name: 'Size', class: 'number' as const },
    'Expires',
    'Created',
  ];
  const list = () => {
    if (rows.length > 0) return table({ caption: 'Snapshots', columns, rows });
    return filtered
      ? emptyState('No matching snapshots.', html`<a href="${PANEL_PATHS.snapshots}">Clear filters</a>`)
      : emptyState(
          'No snapshots yet.',
          'A snapshot is a copy of a server’s disk at one moment. Create one below.',
          sectionLink('Create snapshot'),
        );
  };
  return {
    title: 'Snapshots',
    section: 'snapshots',
    header: { actions: sectionLink('Create snapshot') },
    live: ['snap_'],
    body: html`${(filtered || rows.length > 0) && filterForm(filter, servers)}
${part('list', list())}
${pager(data)}
${section('Create snapshot', createSection(data.forms, servers))}`,
  };
}

function filterForm(filter: Readonly<Record<string, string>>, servers: readonly Server[]): Html {
  const { name = '', status = '', server = '' } = filter;
  const label = labelsOf(servers);
  return listFilterForm(
    PANEL_PATHS.snapshots,
    filter,
    (fields) => html`${fields.text('name', 'Name', { type: 'search', value: name, size: 18 })}
${fields.select('status', 'Status', {
  value: status,
  choices: [
    ['', 'Any'],
    ...SNAPSHOT_STATUSES.map((word) => [word, word === 'error' ? 'failed' : word] as const),
  ],
})}
${fields.select('server', 'Server', {
  value: server,
  choices: [['', 'Any'], ...servers.map((each) => [each.id, label(each)] as const)],
})}
${labelFilterField(fields, filter)}`,
  );
}

function createSection(forms: FormContext, servers: readonly Server[]): Html {
  if (!servers.some((server) => isActionAllowed(server, 'snapshot')))
    return html`<p>You can create snapshots of servers that are running or stopped. You have none right
now.</p>`;
  const fields = new Fields(forms, 'create');
  return html`<p>A snapshot of a running server is like its disk after a power loss. For a clean copy, shut
the server down first.</p>
${form(
  forms,
  { name: 'create' },
  html`${fields.select('server', 'Server', { choices: serverChoices(servers, 'snapshot') })}
${fields.text('name', 'Name (optional)', {
  maxLength: LIMITS.nameMaxChars,
  autocomplete: 'off',
  hint: 'Defaults to the current time.',
})}
${fields.text('expires_at', 'Delete automatically at (UTC, optional)', { type: 'datetime-local' })}
${labelsField(fields, 'Labels (optional)', '')}
<button>Create snapshot</button>`,
)}`;
}

export function snapshotView(data: {
  readonly snapshot: Snapshot;
  readonly servers: readonly Server[];
  /** Servers that it fits, regardless of their current state. */
  readonly targets: readonly Server[];
  /** The latest ones. */
  readonly actions: readonly Action[];
  readonly forms: FormContext;
}): View {
  const { snapshot, servers, actions, forms } = data;
  return {
    title: snapshot.name,
    section: 'snapshots',
    breadcrumbs: [['Snapshots', PANEL_PATHS.snapshots]],
    header: {
      status: snapshotStatusBadge(snapshot.status),
      facts: [
        serverLink(snapshot.server, servers),
        snapshot.status === 'ready' && formatSize(snapshot),
        day(snapshot.created_at),
      ],
      ...(snapshot.status === 'ready' && { actions: deployButton(snapshot) }),
    },
    ...refreshWhileRunning(actions),
    live: [snapshot.id],
    body: html`${part(
      'facts',
      detailList([
        ['Server', serverLink(snapshot.server, servers)],
        ['Size', formatSize(snapshot)],
        ['Created', time(snapshot.created_at)],
        ['Expires', snapshot.expires_at === null ? 'Never' : time(snapshot.expires_at)],
        ['Labels', labelLinks(PANEL_PATHS.snapshots, snapshot.labels)],
        ['ID', html`<code>${snapshot.id}</code>`],
      ]),
    )}
${part('use', snapshot.status === 'ready' && section('Restore', restoreSection(data)))}
${activityPart(snapshot.id, 'snapshot', actions)}
${section('Name, expiry, and labels', changeForm(snapshot, forms))}
${protectionSection(forms, 'snapshot', snapshot.protection, EXPIRY_HINT)}
${part('delete', section('Delete', deleteSection(snapshot, forms)))}`,
  };
}

function deployButton({ id }: Snapshot): Html {
  return buttonLink('Deploy server from snapshot', deployPath({ image: id }));
}

function restoreSection({ snapshot, targets, forms }: Parameters<typeof snapshotView>[0]): Html {
  const unprotected = targets.filter(({ protection }) => !protection.rebuild);
  const available = unprotected.filter((server) => isActionAllowed(server, 'restore'));
  if (available.length === 0)
    return html`<p>To restore it, you need a running or stopped server in the same region with a disk at
least as large and without protection from restore. You have none right now.</p>`;
  const fields = new Fields(forms, 'restore');
  return collapsibleForm(forms, 'restore', {
    summary: 'Restore this snapshot to a server',
    description:
      'All data on that server’s disk is lost. Its addresses are kept. It is unreachable until this is done.',
    content: html`<input type="hidden" name="snapshot" value="${snapshot.id}">
${fields.select('server', 'Server', {
  required: true,
  choices: [['', 'Choose a server'], ...serverChoices(unprotected, 'restore')],
  hint: 'Unprotected servers in the snapshot’s region with a disk at least as large.',
})}
${fields.text('name_typed', 'Enter the server’s name to confirm', {
  required: true,
  maxLength: LIMITS.nameMaxChars,
  autocomplete: 'off',
})}
${fields.notes('snapshot')}
<button class="danger">Overwrite disk with snapshot</button>`,
  });
}

const EXPIRY_HINT = 'If it has expired by then, it is deleted as soon as you turn this off.';

function changeForm(snapshot: Snapshot, forms: FormContext): Html {
  const fields = new Fields(forms, 'change');
  return form(
    forms,
    { name: 'change' },
    html`${fields.text('name', 'Name', {
      value: snapshot.name,
      required: true,
      maxLength: LIMITS.nameMaxChars,
      autocomplete: 'off',
    })}
${fields.text('expires_at', 'Delete automatically at (UTC)', {
  type: 'datetime-local',
  value: snapshot.expires_at?.slice(0, 'yyyy-mm-ddThh:mm:ss'.length) ?? '',
  hint: 'Leave it empty to keep the snapshot.',
})}
${labelsField(fields, 'Labels', formatLabels(snapshot.labels))}
<button class="plain">Save changes</button>`,
  );
}

function deleteSection({ status, protection }: Snapshot, forms: FormContext): Html {
  if (status === 'creating')
    return html`<p>The snapshot is being created. You can delete it once it is ready.</p>`;
  if (protection.delete) return protectedNote('This snapshot is protected from deletion.');
  return collapsibleForm(forms, 'delete', {
    summary: 'Delete this snapshot',
    description: 'This permanently deletes the snapshot. No servers are affected.',
    content: html`<button class="danger">Delete snapshot</button>`,
  });
}

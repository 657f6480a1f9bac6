/** The list of snapshots, with a form to make one, and the page of one. */
import { LIMITS } from '../spec/limits.ts';
import { PANEL_PATHS, resourcePath } from '../spec/paths.ts';
import type { Server } from '../spec/schemas/server.ts';
import type { Snapshot } from '../spec/schemas/snapshot.ts';
import { SNAPSHOT_STATUSES, type SnapshotStatus } from '../spec/states.ts';
import { collapsibleForm } from './collapsible-form.ts';
import { day, detailList, emptyState, pager, section, statusBadge, table, time } from './components.ts';
import { Fields, type FormContext, form } from './form.ts';
import { type Html, html } from './html.ts';
import type { View } from './layout.ts';
import { listFilterForm } from './list-filter-form.ts';
import { isActionAllowed, serverChoices, serverLink } from './server-choice.ts';

/** Until it is ready. */
const REFRESH_S = 10;

const TONES = { creating: 'busy', ready: 'good', error: 'bad' } as const;

function snapshotStatusBadge(status: SnapshotStatus): Html {
  return statusBadge(status === 'error' ? 'failed' : status, TONES[status]);
}

const formatSize = ({ status, size_gb }: Snapshot): string => (status === 'ready' ? `${size_gb} GiB` : '–');

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
  const rows = snapshots.map((snapshot) => [
    html`<a href="${resourcePath(PANEL_PATHS.snapshots, snapshot.id)}">${snapshot.name}</a>`,
    snapshotStatusBadge(snapshot.status),
    serverLink(snapshot.server, servers),
    formatSize(snapshot),
    snapshot.expires_at === null ? 'never' : day(snapshot.expires_at),
    day(snapshot.created_at),
  ]);
  const columns = ['Name', 'State', 'Server', { name: 'Size', class: 'number' }, 'Expires', 'Made'] as const;
  const list = () => {
    if (rows.length > 0) return table({ caption: 'Snapshots', columns, rows });
    return filtered
      ? emptyState(
          'No snapshot is like that.',
          html`<a href="${PANEL_PATHS.snapshots}">Show all snapshots</a>`,
        )
      : emptyState(
          'No snapshots yet.',
          'A snapshot keeps what is on a server’s disk at one moment. Make one below.',
        );
  };
  return {
    title: 'Snapshots',
    section: 'snapshots',
    body: html`${(filtered || rows.length > 0) && filterForm(filter, servers)}
${list()}
${pager(data)}
${section('Snapshot of a server', createSection(data.forms, servers))}`,
  };
}

function filterForm(filter: Readonly<Record<string, string>>, servers: readonly Server[]): Html {
  const { name = '', status = '', server = '' } = filter;
  return listFilterForm(
    PANEL_PATHS.snapshots,
    filter,
    (fields) => html`${fields.text('name', 'Name', { type: 'search', value: name, size: 18 })}
${fields.select('status', 'State', {
  value: status,
  choices: [
    ['', 'any'],
    ...SNAPSHOT_STATUSES.map((word) => [word, word === 'error' ? 'failed' : word] as const),
  ],
})}
${fields.select('server', 'Server', {
  value: server,
  choices: [['', 'any'], ...servers.map(({ id, name: called }) => [id, called] as const)],
})}`,
  );
}

function createSection(forms: FormContext, servers: readonly Server[]): Html {
  if (!servers.some((server) => isActionAllowed(server, 'snapshot')))
    return html`<p>A snapshot is made of a server that is running or stopped; you have none now.</p>`;
  const fields = new Fields(forms, 'create');
  return html`<p>It is what a sudden loss of power would leave on the disk. Stop the server first where that is not enough.</p>
${form(
  forms,
  { name: 'create' },
  html`${fields.select('server', 'Server', { choices: serverChoices(servers, 'snapshot') })}
${fields.text('name', 'Name', { maxLength: LIMITS.nameMaxChars, autocomplete: 'off', hint: 'Made from the time when left empty.' })}
${fields.text('expires_at', 'Delete by itself at', { type: 'datetime-local', hint: 'UTC. Empty: never.' })}
<button>Make the snapshot</button>`,
)}`;
}

export function snapshotView(data: {
  readonly snapshot: Snapshot;
  readonly servers: readonly Server[];
  /** Those that it fits onto, whatever is done to them now. */
  readonly targets: readonly Server[];
  readonly forms: FormContext;
}): View {
  const { snapshot, servers, forms } = data;
  return {
    title: snapshot.name,
    section: 'snapshots',
    breadcrumbs: [['Snapshots', PANEL_PATHS.snapshots]],
    ...(snapshot.status === 'creating' ? { refreshS: REFRESH_S } : {}),
    body: html`${detailList([
      ['State', snapshotStatusBadge(snapshot.status)],
      ['Of the server', serverLink(snapshot.server, servers)],
      ['Size', formatSize(snapshot)],
      ['Made', time(snapshot.created_at)],
      ['Deleted by itself', snapshot.expires_at === null ? 'never' : time(snapshot.expires_at)],
      ['Id', html`<code>${snapshot.id}</code>`],
    ])}
${snapshot.status === 'ready' && section('Restore', restoreSection(data))}
${section('Delete', deleteSection(snapshot, forms))}`,
  };
}

function restoreSection({ snapshot, targets, forms }: Parameters<typeof snapshotView>[0]): Html {
  const available = targets.filter((server) => isActionAllowed(server, 'restore'));
  if (available.length === 0)
    return html`<p>It is restored onto a server in its region that is running or stopped and has as large a disk; you have none now.</p>`;
  const fields = new Fields(forms, 'restore');
  return collapsibleForm(forms, 'restore', {
    summary: 'Put this snapshot onto a server',
    words:
      'What is on the disk of that server now is destroyed. Its addresses stay. It is out of reach until the disk is written.',
    content: html`<input type="hidden" name="snapshot" value="${snapshot.id}">
${fields.select('server', 'Server', {
  required: true,
  choices: [['', 'Choose one'], ...serverChoices(targets, 'restore')],
  hint: 'Those in the region of the snapshot with a disk that is as large or larger.',
})}
${fields.text('name_typed', 'Type the name of that server, to show that its disk is meant', { required: true, maxLength: LIMITS.nameMaxChars, autocomplete: 'off' })}
${fields.notes('snapshot')}
<button class="danger">Overwrite its disk with the snapshot</button>`,
  });
}

function deleteSection({ status }: Snapshot, forms: FormContext): Html {
  if (status === 'creating') return html`<p>It is being made; it can be deleted once it is ready.</p>`;
  return collapsibleForm(forms, 'delete', {
    summary: 'Delete this snapshot',
    words: 'The copy is gone for ever. Servers are not touched.',
    content: html`<button class="danger">Delete the snapshot</button>`,
  });
}
